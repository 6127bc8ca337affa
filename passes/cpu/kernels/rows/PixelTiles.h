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

/// `count` tiles of `size` pixels. The first tile starts at pixel `first`. All
/// tiles have the same taps within src.
struct PixelTile {
  int64_t first, size, count;
  /// The taps [begin, end) of each pixel that lie within src.
  llvm::SmallVector<std::pair<int64_t, int64_t>> taps;
  int64_t numTaps;

  bool hasTap(int64_t pixel, int64_t tap) const {
    return taps[pixel].first <= tap && tap < taps[pixel].second;
  }
  /// Returns the pixels [first, end) of src that are read, counted from tap 0
  /// of the first pixel.
  std::pair<int64_t, int64_t> pixelsRead(int64_t stride,
                                         int64_t dilation) const;
  /// Returns true if no tap of any pixel lies in the padding.
  bool isWhole() const;
};

/// A window along one dimension. It can start before the elements only if
/// `crossesLow`, and end behind them only if `crossesHigh`.
struct TapRow {
  int64_t numTaps, dilation;
  bool crossesLow, crossesHigh;
};
/// Returns the taps [begin, end) that are within `size` elements. Tap 0 is at
/// `origin`. If no tap is within, `end` may be less than `begin`.
std::pair<Index, Index> tapsWithin(IndexBuilder &b, Index origin, Index size,
                                   const TapRow &taps);

/// Returns the sizes of the spatial dimensions of channels-last data.
llvm::SmallVector<Index> spatialSizes(IndexBuilder &b, mlir::Value memref);

/// The windows of a convolution on channels-last data. Rows, the last spatial
/// dimension, are split into tiles where their size is known.
struct WindowTiling {
  llvm::ArrayRef<int64_t> strides, pads, dilations, kernel;
  /// Sizes of the spatial dimensions.
  llvm::SmallVector<Index> srcSizes, dstSizes;

  int64_t inner() const { return int64_t(kernel.size()) - 1; }

  /// Returns true if a window may start before the elements of a dimension, or
  /// end behind them.
  bool crossesLow(int64_t dim) const { return pads[dim] > 0; }
  bool crossesHigh(int64_t dim) const;

  /// Returns a tile of `size` pixels that have all their taps within src.
  PixelTile wholeTile(int64_t size) const;
  /// Returns a tile at an end of a row. `firstTile` begins with the first pixel
  /// of the row, and its taps may lie in the padding before src. The last tap
  /// of `lastTile` lies on pixel `beyond` of the padding behind src. Neither
  /// tile has taps in the padding at the other end.
  PixelTile firstTile(int64_t size) const;
  PixelTile lastTile(int64_t size, int64_t beyond) const;
  /// Returns the number of pixels of src that the taps of `size` neighbouring
  /// pixels span.
  int64_t span(int64_t size) const;
  /// Returns true if no tap of `size` pixels of a row is before src
  /// (startsWithin), behind src (endsWithin), or outside of src (isWithin). Tap
  /// 0 of the first pixel is at `origin`. A null result means always true.
  mlir::Value startsWithin(IndexBuilder &b, Index origin) const;
  mlir::Value endsWithin(IndexBuilder &b, Index origin, int64_t size) const;
  mlir::Value isWithin(IndexBuilder &b, Index origin, int64_t size) const;

  /// Returns true if src has a pixel at `coordinate` of dimension `dim`.
  mlir::Value hasPixel(IndexBuilder &b, int64_t dim, Index coordinate) const;
  /// Returns the coordinates in src, without the channel, of tap 0 of a pixel
  /// of dst. The pixel is number `pixel` of row `row` (n, e1, …, e(n-1)).
  llvm::SmallVector<Index> originOf(IndexBuilder &b, llvm::ArrayRef<Index> row,
                                    Index pixel) const;
  /// Returns the taps [begin, end) of outer dimension `dim` that lie within
  /// src, if tap 0 has coordinate `origin`.
  std::pair<Index, Index> tapsWithin(IndexBuilder &b, int64_t dim,
                                     Index origin) const;
  /// Calls `sum(srcAt, taps, sums)` for all taps of the outer dimensions that
  /// lie within src, and carries the sums. `srcAt` are the coordinates of the
  /// tap in src.
  Accumulators
  sumOuter(IndexBuilder &b, llvm::SmallVector<Index> srcAt,
           const Accumulators &start,
           llvm::function_ref<Accumulators(llvm::ArrayRef<Index> srcAt,
                                           llvm::ArrayRef<Index> taps,
                                           const Accumulators &sums)>
               sum) const;
  /// Loops over all taps of the outer dimensions, also outside of src.
  void forEachOuterTap(
      IndexBuilder &b,
      llvm::function_ref<void(llvm::ArrayRef<Index> taps)> body) const;
  Accumulators
  sumOuterTaps(IndexBuilder &b, const Accumulators &start,
               llvm::function_ref<Accumulators(llvm::ArrayRef<Index> taps,
                                               const Accumulators &sums)>
                   sum) const;
  /// Builds `body(srcRow)`, which runs only if these outer taps of dst row
  /// `row` lie within src. `srcRow` is n and the coordinates of the taps.
  void ifWithin(IndexBuilder &b, llvm::ArrayRef<Index> row,
                llvm::ArrayRef<Index> taps,
                llvm::function_ref<void(llvm::ArrayRef<Index> srcRow)> body)
      const;
  /// Returns the number of tiles of up to `most` pixels in a row, and the
  /// tiles.
  int64_t tilesPerRow(int64_t most) const;
  llvm::SmallVector<PixelTile> splitRow(int64_t most) const;
  /// Loops over the tiles of `splitRow`, with their numbers.
  void forEachTile(IndexBuilder &b, int64_t most,
                   llvm::function_ref<void(const PixelTile &pixels,
                                           Index firstPixel, Index number)>
                       body) const;
};

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_ROWS_PIXELTILES_H
