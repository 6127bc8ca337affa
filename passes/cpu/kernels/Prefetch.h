//===- Prefetch.h - prefetches of rows and weights --------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prefetches for the loops over k of matrix products: rows of src, and the
// weights that are multiplied next.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_KERNELS_PREFETCH_H
#define INGOT_PASSES_CPU_KERNELS_PREFETCH_H

#include "passes/cpu/products/MicroKernel.h"

namespace ingot::cpu {

/// The rows of src that a tile reads. Element k of row r is `dataOf[r][at[r] +
/// k * step]`. The tile skips rows whose `at` is nullopt.
struct SrcRows {
  /// The memref of all rows that were not copied.
  mlir::Value data;
  llvm::SmallVector<mlir::Value> dataOf;
  llvm::SmallVector<std::optional<Index>> at;
  /// Elements between two rows.
  Index stride;
  /// Elements between two neighbours of a row; only f32 has steps other than 1.
  int64_t step = 1;
  /// The distance from even to odd bytes, if bytes were copied as int16. Group
  /// k of a row, an i32, has its even bytes at `at[r] + k`; its odd bytes
  /// follow at this distance.
  std::optional<int64_t> odd;

  /// Makes `count` rows, beginning with row `first`.
  SrcRows(IndexBuilder &b, mlir::Value data, Index first, Index stride,
       int64_t count);
};

/// Returns the target of the kernel that is being written.
TargetInfo targetOf(IndexBuilder &b);

/// The caches that a line is prefetched into.
enum class Into { second = 2, first = 3 };
void prefetch(IndexBuilder &b, mlir::Value data, Index at,
              Into cache = Into::first);

/// `count` steps of a loop over k, beginning at `k`.
struct Steps {
  mlir::Value k;
  int64_t count;
};

/// Prefetches the lines of the rows that are read `distance` groups later. A
/// line of each row lasts for as many steps as a line has 32-bit words. Each
/// call prefetches the share of the rows that belongs to its `steps`.
void prefetchRows(IndexBuilder &b, const SrcRows &rows, int64_t group,
                  const Steps &steps, int64_t distance,
                  Into cache = Into::first);

/// The weights that are multiplied next. Several passes over the present
/// weights prefetch them, a part in each pass. A pass prefetches at the speed
/// at which it multiplies.
struct NextWeights {
  mlir::Value weights;
  /// The part of this pass.
  Index at = 0;
  /// The size of the part, in units of 1/kWhole; nothing is prefetched if 0.
  Index share = 0;
  static constexpr int64_t kWhole = 4096;

  /// Returns the part that belongs to the weights `elements` later in the pass.
  NextWeights from(IndexBuilder &b, Index elements) const;
  /// Returns the part for a pass whose elements are counted in units of
  /// `factor` elements.
  NextWeights times(IndexBuilder &b, int64_t factor) const {
    return {weights, at, b.mul(share, factor)};
  }
};

/// Returns what pass `pass` of `passes` prefetches of the `elements` weights
/// that start at `nextAt`. The result is empty if the number of passes makes
/// prefetching useless. With an open number of passes it has at most its first
/// line then.
NextWeights nextWeights(IndexBuilder &b, mlir::Value weights, Index nextAt,
                        int64_t elements, Index pass, Index passes);

/// Prefetches for `steps` steps, beginning with step k; each step multiplies
/// `width` weights.
void prefetchNext(IndexBuilder &b, const NextWeights &next, int64_t width,
                  mlir::Value k, int64_t steps);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_PREFETCH_H
