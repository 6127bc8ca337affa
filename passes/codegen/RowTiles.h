//===- RowTiles.h - windows over a row of pixels ----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CODEGEN_ROWTILES_H
#define INGOT_PASSES_CODEGEN_ROWTILES_H

#include "passes/codegen/Addressing.h"

namespace ingot::codegen {

/// `count` tiles of `size` pixels, one behind the other from `first` on, that
/// have the same taps within src.
struct RowTile {
  int64_t first, size, count;
  /// For each pixel the taps [begin, end) that lie within src.
  llvm::SmallVector<std::pair<int64_t, int64_t>> taps;
  int64_t numTaps;

  bool hasTap(int64_t pixel, int64_t tap) const {
    return taps[pixel].first <= tap && tap < taps[pixel].second;
  }
  /// Whether no tap of any pixel lies in the padding.
  bool isWhole() const;
};

/// The windows of a convolution on channels-last data: sizes of the row
/// dimension, the last spatial one, are known.
struct Window {
  Window(llvm::ArrayRef<int64_t> strides, llvm::ArrayRef<int64_t> pads,
         llvm::ArrayRef<int64_t> dilations, llvm::ArrayRef<int64_t> kernel,
         llvm::ArrayRef<int64_t> src, llvm::ArrayRef<int64_t> dst);

  llvm::ArrayRef<int64_t> strides, pads, dilations, kernel;
  /// Sizes of the spatial dimensions.
  llvm::ArrayRef<int64_t> srcSizes, dstSizes;

  int64_t inner() const { return int64_t(kernel.size()) - 1; }

  /// The number of rows of dst: the product of the other dimensions.
  Index countRows(IndexBuilder &b, mlir::Value dst) const;
  /// Row number → n, e1, …, e(n-1).
  llvm::SmallVector<Index> coordinatesOfRow(IndexBuilder &b, Index row) const;
  /// The taps [begin, end) of outer dimension `dim` that lie within src, tap 0
  /// being at coordinate `origin`.
  std::pair<Index, Index> tapsWithin(IndexBuilder &b, int64_t dim,
                                     Index origin) const;
  /// Splits a row into tiles of up to `most` pixels.
  llvm::SmallVector<RowTile> splitRow(int64_t most) const;
};

} // namespace ingot::codegen

#endif // INGOT_PASSES_CODEGEN_ROWTILES_H
