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
/// k * step]`. If `at[r]` is nullopt, the tile skips row r.
struct SrcRows {
  /// The memref that holds all rows that were not copied.
  mlir::Value data;
  llvm::SmallVector<mlir::Value> dataOf;
  llvm::SmallVector<std::optional<Index>> at;
  /// Elements between two rows.
  Index stride;
  /// The distance between neighbouring elements of a row. Only f32 supports
  /// distances other than 1.
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
/// line has one step for each of its 32-bit words. Each call prefetches a share
/// of the rows, in proportion to its `steps`.
void prefetchRows(IndexBuilder &b, const SrcRows &rows, int64_t group,
                  const Steps &steps, int64_t distance,
                  Into cache = Into::first);

/// The weights that are multiplied after the present ones. Several passes over
/// the present weights prefetch them, a part in each pass. A pass spreads its
/// prefetches evenly over its multiplications.
struct NextWeights {
  mlir::Value weights;
  /// The start of the part that this pass prefetches.
  Index at = 0;
  /// The size of the part as a share of all weights, in units of 1/kWhole. If
  /// it is 0, nothing is prefetched.
  Index share = 0;
  static constexpr int64_t kWhole = 4096;

  /// Returns the part that belongs to the weights `elements` later in the pass.
  NextWeights from(IndexBuilder &b, Index elements) const;
  /// Returns the part for a pass that counts units of `factor` elements instead
  /// of elements.
  NextWeights times(IndexBuilder &b, int64_t factor) const {
    return {weights, at, b.mul(share, factor)};
  }
};

/// Returns the part of `elements` weights, starting at `nextAt`, that pass
/// `pass` of `passes` prefetches. The part is empty if `passes` is too small or
/// too large for prefetching to pay. If only a run knows `passes`, the part may
/// have size 0. At most one line is then prefetched.
NextWeights nextWeights(IndexBuilder &b, mlir::Value weights, Index nextAt,
                        int64_t elements, Index pass, Index passes);

/// Prefetches for `steps` steps, beginning with step k; each step multiplies
/// `width` weights.
void prefetchNext(IndexBuilder &b, const NextWeights &next, int64_t width,
                  mlir::Value k, int64_t steps);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_PREFETCH_H
