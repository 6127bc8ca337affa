//===- RowTiling.h - rows cut into register tiles ---------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Cuts rows into register tiles of a few heights. A kernel has code for these
// heights only. A known number of rows is cut evenly. If the number is open,
// the tiles at the end are smaller, overlap others, or have rows that do not
// exist.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_KERNELS_ROWTILING_H
#define INGOT_PASSES_CPU_KERNELS_ROWTILING_H

#include "passes/cpu/products/MicroKernel.h"

namespace ingot::cpu {

/// A tile of rows [row, row + size).
struct CutTile {
  int64_t size;
  Index row;
  /// The first row that no earlier tile has computed.
  Index wanted;
  /// The first row of the tiles of this size.
  Index first;
  /// The number of rows of the tile that exist, if some may not exist.
  std::optional<Index> end = std::nullopt;
};

class RowTiling {
public:
  /// Takes the possible heights of tiles, the largest first.
  explicit RowTiling(llvm::ArrayRef<int64_t> sizes)
      : sizes(sizes.begin(), sizes.end()) {}

  bool empty() const { return sizes.empty(); }

  /// Returns the smallest height of at least `count` rows, or the largest
  /// height if there is none.
  Index sizeFor(IndexBuilder &b, Index count) const;

  /// Builds `body` for each height; at run time only that of `sizeFor` is
  /// executed.
  void choose(IndexBuilder &b, Index count,
              llvm::function_ref<void(int64_t size)> body) const;

  /// Returns the largest number of rows of a tile of `size` rows that may not
  /// exist. If more were missing, `sizeFor` would choose a smaller tile.
  int64_t mostBeyond(int64_t size) const;

  /// The rows [first, end) that remain after the highest tiles.
  struct Rest {
    Index first, end;
    /// Up to this many rows remain uncut. It is less than the smallest tile.
    int64_t uncut;
    /// Returns true if a tile of this size may have more rows than there are.
    llvm::function_ref<bool(int64_t size)> mayBeHigher;
  };
  /// Cuts the rest into tiles, size by size. Each size gets just enough tiles
  /// that the next smaller size can take the remaining rows. The last tile ends
  /// with the last row, and may compute some earlier rows again. Returns the
  /// first row that remains uncut.
  Index cutRest(IndexBuilder &b, const Rest &rest,
                llvm::function_ref<void(const CutTile &tile)> body) const;

  /// Cuts rows [first, end) into as many tiles of each size as fit, one size
  /// after the other. The last size must divide the remaining rows.
  void cutInTurn(IndexBuilder &b, Index first, Index end,
                 llvm::function_ref<void(int64_t size, Index row)> body) const;

  /// Cuts a known number of rows into tiles of at most `most` rows. The first
  /// tiles may have one row more than the others. Builds only the tiles with
  /// numbers in [first, end). `body` gets the size, the first row and the
  /// number of a tile.
  static void cutEvenly(
      IndexBuilder &b, int64_t rows, int64_t most, Index first, Index end,
      llvm::function_ref<void(int64_t size, Index row, Index number)> body);

private:
  llvm::SmallVector<int64_t> sizes;
};

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_ROWTILING_H
