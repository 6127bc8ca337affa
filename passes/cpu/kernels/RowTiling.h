//===- RowTiling.h - rows cut into register tiles ---------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel has code for register tiles of a few heights. Where its rows are of
// known number, they are cut evenly. Where only a run knows how many rows there
// are, the tiles at the end are smaller ones, overlap, or have rows that are
// not there.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_KERNELS_ROWTILING_H
#define INGOT_PASSES_CPU_KERNELS_ROWTILING_H

#include "passes/cpu/products/MicroKernel.h"

namespace ingot::cpu {

/// A tile that is cut out of rows [row, row + size).
struct CutTile {
  int64_t size;
  Index row;
  /// The row that the tile starts for: those before it are done already.
  Index wanted;
  /// The first row of the tiles of this size.
  Index first;
  /// Rows that are there, if the tile may be higher than what is cut.
  std::optional<Index> end = std::nullopt;
};

class RowTiling {
public:
  /// Takes the numbers of rows that tiles may have, the largest first.
  explicit RowTiling(llvm::ArrayRef<int64_t> sizes)
      : sizes(sizes.begin(), sizes.end()) {}

  bool empty() const { return sizes.empty(); }

  /// Returns the rows of the lowest tile that has room for `count`, or of the
  /// highest one.
  Index sizeFor(IndexBuilder &b, Index count) const;

  /// Builds `body` for each size, of which a run takes that of `sizeFor`.
  void choose(IndexBuilder &b, Index count,
              llvm::function_ref<void(int64_t size)> body) const;

  /// Returns the most rows of a tile of `size` that may not be there: with one
  /// more, a lower tile would have been chosen.
  int64_t mostBeyond(int64_t size) const;

  /// The rows [first, end) that the highest tiles leave.
  struct Rest {
    Index first, end;
    /// Rows that are left uncut, fewer than any tile has.
    int64_t uncut;
    /// Returns whether a tile of this size may have more rows than there are.
    llvm::function_ref<bool(int64_t size)> mayBeHigher;
  };
  /// Cuts the rest into as few tiles of each size as leave no more than the
  /// next lower one takes, the last of which ends with the last row: it
  /// computes rows before it once more. Returns the first row that is left.
  Index cutRest(IndexBuilder &b, const Rest &rest,
                llvm::function_ref<void(const CutTile &tile)> body) const;

  /// Cuts rows [first, end) into as many tiles of each size as fit, one size
  /// after the other; the last size has to divide what is left.
  void cutInTurn(IndexBuilder &b, Index first, Index end,
                 llvm::function_ref<void(int64_t size, Index row)> body) const;

  /// Cuts a known number of rows into tiles of at most `most`, of which the
  /// first ones have a row more than the others; of them builds those that
  /// start in [first, end), counted as if all had `most`. `body` has the size,
  /// the first row and the number of a tile.
  static void cutEvenly(
      IndexBuilder &b, int64_t rows, int64_t most, Index first, Index end,
      llvm::function_ref<void(int64_t size, Index row, Index number)> body);

private:
  llvm::SmallVector<int64_t> sizes;
};

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_ROWTILING_H
