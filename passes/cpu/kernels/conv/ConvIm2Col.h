//===- ConvIm2Col.h - sums over copies of taps ------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_KERNELS_CONV_CONVIM2COL_H
#define INGOT_PASSES_CPU_KERNELS_CONV_CONVIM2COL_H

#include "passes/cpu/kernels/conv/ConvColumns.h"

namespace ingot::cpu {

/// The layout of copied taps.
struct Im2ColLayout {
  /// The number of taps of a row that are copied at once: one, or all. If all
  /// taps are copied, they are contiguous, like their weights.
  int64_t taps;
  /// The number of channels of a tap that are copied at once.
  int64_t channels;
  /// The elements between two taps, and between two pixels.
  int64_t tapPitch, pixelPitch;
  /// The number of contiguous rows of taps if a whole window is copied at once;
  /// else 0.
  int64_t rows = 0;
};

/// The pixels whose taps are copied. `first` holds the coordinates of the first
/// pixel, and `count` their number. `rows` is the number of rows of the tile;
/// the last rows may have no pixel.
struct Im2ColPixels {
  llvm::ArrayRef<Index> first;
  Index count, rows;
};

/// The part of a pixel that is copied: `size` channels, from `channel` on, of
/// each tap along the row, from `firstTap` on.
struct TapChannels {
  llvm::ArrayRef<Index> outerTaps;
  Index firstTap, channel;
  int64_t size;
};

/// Sums of tiles of pixels in any rows, over copies of their taps.
struct ConvIm2Col : ConvEmitterBase {
  ConvIm2Col(ConvKernel &conv, ConvColumns &columns)
      : ConvEmitterBase(conv), columns(columns) {}

  Im2ColLayout copiedTaps(const Tile &tile);
  void prepareCopies(const Im2ColLayout &copied);
  void copyTaps(const Im2ColLayout &copied, const Im2ColPixels &pixels,
                const TapChannels &from);
  /// Adds the products of the copied taps.
  Accumulators sumCopied(const Tile &tile, const Im2ColLayout &copied,
                         llvm::ArrayRef<Index> outerTaps, Index panelAt,
                         int64_t depth, const Accumulators &start);
  /// Copies and sums up all taps of a tile.
  Accumulators sumCopies(const Tile &tile, llvm::ArrayRef<Index> first,
                         Index count, const ColumnAt &columnAt);

private:
  llvm::SmallVector<mlir::Value> masksWithin(Index low, Index high,
                                             int64_t vectors);
  void copyWithin(Index from, Index to, mlir::Value isThere,
                  llvm::ArrayRef<mlir::Value> masks);

  ConvColumns &columns;
  mlir::Value copiesOf;
};

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_CONV_CONVIM2COL_H
