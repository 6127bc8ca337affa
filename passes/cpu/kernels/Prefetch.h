//===- Prefetch.h - rows and weights before they are needed -----*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the loops over k of products prefetch, and how much of it at a time.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_KERNELS_PREFETCH_H
#define INGOT_PASSES_CPU_KERNELS_PREFETCH_H

#include "passes/cpu/products/MicroKernel.h"

namespace ingot::cpu {

/// The rows of src that a tile reads: element k of row r stands at
/// `dataOf[r][at[r] + k * step]`; rows that are nullopt do not take part.
struct SrcRows {
  /// Of all rows, but for those that were copied.
  mlir::Value data;
  llvm::SmallVector<mlir::Value> dataOf;
  llvm::SmallVector<std::optional<Index>> at;
  /// Elements between two rows.
  Index stride;
  /// And between two of a row; others than 1 are for f32.
  int64_t step = 1;
  /// Of bytes that were copied as words: group k of a row, of i32, has its even
  /// bytes at `at[r] + k` and its odd ones so many elements behind them.
  std::optional<int64_t> odd;

  /// `count` rows from `first` on.
  SrcRows(IndexBuilder &b, mlir::Value data, Index first, Index stride,
       int64_t count);
};

/// That of the kernel that is being written.
TargetInfo targetOf(IndexBuilder &b);

/// The caches that a line is prefetched into.
enum class Into { second = 2, first = 3 };
void prefetch(IndexBuilder &b, mlir::Value data, Index at,
              Into cache = Into::first);

/// So many steps of k.
struct Steps {
  mlir::Value k;
  int64_t count;
};

/// Prefetches the rows' lines that are needed `distance` groups later: as many
/// steps of k as a line has words prefetch one of each row, and `steps`, which
/// divide these, their part.
void prefetchRows(IndexBuilder &b, const SrcRows &rows, int64_t group,
                  const Steps &steps, int64_t distance,
                  Into cache = Into::first);

/// The weights that come next, prefetched while others are multiplied: each of
/// several passes over these prefetches a part of those, in step with what it
/// multiplies.
struct NextWeights {
  mlir::Value weights;
  /// The part of this pass.
  Index at = 0;
  /// How large it is, in parts of `kWhole`; nothing is prefetched if 0.
  Index share = 0;
  static constexpr int64_t kWhole = 4096;

  /// The same for what is multiplied `elements` later in a pass.
  NextWeights from(IndexBuilder &b, Index elements) const;
  /// The same where the elements of a pass are counted as so many times fewer.
  NextWeights times(IndexBuilder &b, int64_t factor) const {
    return {weights, at, b.mul(share, factor)};
  }
};

/// For pass number `pass` of `passes`: the `elements` weights from `nextAt` on.
/// None if there are so few or so many passes that it does not pay; if only a
/// run knows how many, no more than their first line then.
NextWeights nextWeights(IndexBuilder &b, mlir::Value weights, Index nextAt,
                        int64_t elements, Index pass, Index passes);

/// The part of `steps` steps from k on, each of which multiplies `width`
/// weights.
void prefetchNext(IndexBuilder &b, const NextWeights &next, int64_t width,
                  mlir::Value k, int64_t steps);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_PREFETCH_H
