//===- ConvTapCopies.h - sums over copies of taps ---------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_KERNELS_CONV_CONVTAPCOPIES_H
#define INGOT_PASSES_CPU_KERNELS_CONV_CONVTAPCOPIES_H

#include "passes/cpu/kernels/conv/ConvColumns.h"

namespace ingot::cpu {

/// The form in which taps of pixels are copied.
struct CopiedTaps {
  /// Taps along a row: all, which follow each other as their weights do, or
  /// one.
  int64_t taps;
  /// And so many channels of them.
  int64_t channels;
  /// Elements between two taps, and between two pixels.
  int64_t tapPitch, pixelPitch;
  /// Rows of taps, which then follow each other, too, if all are copied at
  /// once; else 0.
  int64_t rows = 0;
};

/// Pixels whose taps are copied: the coordinates of the first one, how many
/// there are, and the rows of the tile, of which the last may be none.
struct CopiedPixels {
  llvm::ArrayRef<Index> first;
  Index count, rows;
};

/// The part of a pixel that is copied: `size` channels from `channel` on of the
/// taps along a row, from `firstTap` on.
struct TapChannels {
  llvm::ArrayRef<Index> outerTaps;
  Index firstTap, channel;
  int64_t size;
};

/// Sums of tiles of pixels of any rows, over copies of their taps.
struct ConvTapCopies : ConvPart {
  ConvTapCopies(ConvKernel &conv, ConvColumns &columns)
      : ConvPart(conv), columns(columns) {}

  CopiedTaps copiedTaps(const Tile &tile);
  void prepareCopies(const CopiedTaps &copied);
  void copyTaps(const CopiedTaps &copied, const CopiedPixels &pixels,
                const TapChannels &from);
  /// Adds the products of what was copied.
  Accumulators sumCopied(const Tile &tile, const CopiedTaps &copied,
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

#endif // INGOT_PASSES_CPU_KERNELS_CONV_CONVTAPCOPIES_H
