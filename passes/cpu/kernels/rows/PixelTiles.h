//===- PixelTiles.h - windows over a row of pixels --------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_KERNELS_ROWS_PIXELTILES_H
#define INGOT_PASSES_CPU_KERNELS_ROWS_PIXELTILES_H

#include "passes/cpu/products/MicroKernel.h"

namespace ingot::cpu {

/// `count` tiles of `size` pixels, one behind the other from `first` on, that
/// have the same taps within src.
struct PixelTile {
  int64_t first, size, count;
  /// For each pixel the taps [begin, end) that lie within src.
  llvm::SmallVector<std::pair<int64_t, int64_t>> taps;
  int64_t numTaps;

  bool hasTap(int64_t pixel, int64_t tap) const {
    return taps[pixel].first <= tap && tap < taps[pixel].second;
  }
  /// The pixels [first, end) of src that are read, counted from tap 0 of the
  /// first pixel.
  std::pair<int64_t, int64_t> pixelsRead(int64_t stride,
                                         int64_t dilation) const;
  /// Whether no tap of any pixel lies in the padding.
  bool isWhole() const;
};

/// The taps [begin, end) that lie within `size` elements, tap 0 being at
/// `origin`; end may be below begin. A window never starts before the elements,
/// or never ends behind them, unless it crosses that end.
struct TapRow {
  int64_t numTaps, dilation;
  bool crossesLow, crossesHigh;
};
std::pair<Index, Index> tapsWithin(IndexBuilder &b, Index origin, Index size,
                                   const TapRow &taps);

/// The sizes of the spatial dimensions of channels-last data.
llvm::SmallVector<Index> spatialSizes(IndexBuilder &b, mlir::Value memref);

/// The windows of a convolution on channels-last data. Rows, the last spatial
/// dimension, are split into tiles where their size is known.
struct ConvWindow {
  llvm::ArrayRef<int64_t> strides, pads, dilations, kernel;
  /// Sizes of the spatial dimensions.
  llvm::SmallVector<Index> srcSizes, dstSizes;

  int64_t inner() const { return int64_t(kernel.size()) - 1; }

  /// Whether a window starts before the elements of a dimension, or ends behind
  /// them.
  bool crossesLow(int64_t dim) const { return pads[dim] > 0; }
  bool crossesHigh(int64_t dim) const;

  /// A tile of `size` pixels that have all their taps within src.
  PixelTile wholeTile(int64_t size) const;
  /// One with the first pixel of a row, all taps behind the padding before it
  /// lying within src, and one whose last tap is pixel number `beyond` of the
  /// padding behind src, all taps before that lying within src.
  PixelTile firstTile(int64_t size) const;
  PixelTile lastTile(int64_t size, int64_t beyond) const;
  /// How many pixels of src the taps of neighbouring pixels go over.
  int64_t span(int64_t size) const;
  /// Whether tap 0 of the row dimension being at `origin`, no tap of `size`
  /// pixels of a row lies before src, behind it, or neither: null if that is so
  /// wherever the origin is.
  mlir::Value startsWithin(IndexBuilder &b, Index origin) const;
  mlir::Value endsWithin(IndexBuilder &b, Index origin, int64_t size) const;
  mlir::Value isWithin(IndexBuilder &b, Index origin, int64_t size) const;

  /// Whether src has a pixel at coordinate `coordinate` of dimension `dim`.
  mlir::Value hasPixel(IndexBuilder &b, int64_t dim, Index coordinate) const;
  /// Where tap 0 of pixel `pixel` of dst row `row` (n, e1, …, e(n-1)) would be
  /// in src, but for the channel.
  llvm::SmallVector<Index> originOf(IndexBuilder &b, llvm::ArrayRef<Index> row,
                                    Index pixel) const;
  /// The taps [begin, end) of outer dimension `dim` that lie within src, tap 0
  /// being at coordinate `origin`.
  std::pair<Index, Index> tapsWithin(IndexBuilder &b, int64_t dim,
                                     Index origin) const;
  /// Carries accumulators through `sum(srcAt, taps, sums)` for all taps of the
  /// outer dimensions that lie within src, `srcAt` being moved to each.
  Accumulators
  sumOuter(IndexBuilder &b, llvm::SmallVector<Index> srcAt,
           const Accumulators &start,
           llvm::function_ref<Accumulators(llvm::ArrayRef<Index> srcAt,
                                           llvm::ArrayRef<Index> taps,
                                           const Accumulators &sums)>
               sum) const;
  /// Loops over the taps of the outer dimensions, within src or not.
  void forEachOuterTap(
      IndexBuilder &b,
      llvm::function_ref<void(llvm::ArrayRef<Index> taps)> body) const;
  Accumulators
  sumOuterTaps(IndexBuilder &b, const Accumulators &start,
               llvm::function_ref<Accumulators(llvm::ArrayRef<Index> taps,
                                               const Accumulators &sums)>
                   sum) const;
  /// `body(srcRow)` if dst row `row` has these taps of the outer dimensions
  /// within src: n and their coordinates.
  void ifWithin(IndexBuilder &b, llvm::ArrayRef<Index> row,
                llvm::ArrayRef<Index> taps,
                llvm::function_ref<void(llvm::ArrayRef<Index> srcRow)> body)
      const;
  /// How many tiles of up to `most` pixels a row takes, and these.
  int64_t tilesPerRow(int64_t most) const;
  llvm::SmallVector<PixelTile> splitRow(int64_t most) const;
  /// Loops over these tiles, which are numbered.
  void forEachTile(IndexBuilder &b, int64_t most,
                   llvm::function_ref<void(const PixelTile &pixels,
                                           Index firstPixel, Index number)>
                       body) const;
};

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_ROWS_PIXELTILES_H
