//===- ConvSums.h - sums of the pixels of a row -----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_KERNELS_CONV_CONVSUMS_H
#define INGOT_PASSES_CPU_KERNELS_CONV_CONVSUMS_H

#include "passes/cpu/kernels/conv/ConvColumns.h"

namespace ingot::cpu {

/// Sums of tiles whose pixels lie in one row of dst.
struct ConvSums : ConvEmitterBase {
  ConvSums(ConvKernel &conv, ConvColumns &columns)
      : ConvEmitterBase(conv), columns(columns) {}

  /// Sums up all taps of a tile.
  Accumulators sumTile(const Tile &tile, const PixelTile &pixels,
                       const PixelsAt &pixelsAt, const ColumnAt &columnAt,
                       const NextWeights &next);

private:
  /// Adds the taps along the row. Reads src directly, or calls one of the
  /// functions below.
  Accumulators sumRow(const Tile &tile, const PixelTile &pixels,
                      llvm::ArrayRef<Index> srcAt,
                      llvm::ArrayRef<Index> weightsAt,
                      const Accumulators &start, const NextWeights &next);
  /// Sums over a copy of the pixels as f32.
  Accumulators sumAsFloats(const Tile &tile, const PixelTile &pixels,
                           Index from, Index panelAt,
                           const Accumulators &start);
  /// Sums over a copy of bytes as int16, with zero points in the padding.
  Accumulators sumInt16(const Tile &tile, const PixelTile &pixels, Index from,
                        Index panelAt, llvm::ArrayRef<Index> taps,
                        const Accumulators &start);
  /// Sums by pairs of bytes, over src or over a copy with zero points in the
  /// padding.
  Accumulators sumPairs(const Tile &tile, const PixelTile &pixels, Index from,
                        Index panelAt, llvm::ArrayRef<Index> taps,
                        const Accumulators &start);
  /// Sums by AMX tiles, over src or over a copy with zeros in the padding.
  Accumulators sumAmx(const Tile &tile, const PixelTile &pixels, Index from,
                      Index panelAt, const Accumulators &start);

  /// The rows of each tap along the row of src. `asOne` is true if the taps are
  /// contiguous in memory. `apart` is the distance between two taps, if all
  /// pixels have all taps.
  struct TapRows {
    bool asOne;
    std::optional<Index> apart;
    llvm::function_ref<SrcRows(int64_t tap)> rowsOf;
  };
  /// Adds the products of `depth` elements of each tap.
  Accumulators sumTaps(const TileWeights &weights, const TapRows &taps,
                       int64_t depth, const Accumulators &start,
                       const NextWeights &next = {});
  /// Copies the pixels of a tile, beginning with tap 0 of the first pixel, with
  /// a distance of `pitch` elements.
  void copyPadded(const PixelTile &pixels, Index from, int64_t pitch);
  /// Returns a buffer for a copy; all tiles share it if it is large enough.
  mlir::Value roomFor(int64_t elements, mlir::Type type);

  ConvColumns &columns;
  /// The copied pixels in the form in which they are multiplied, and the
  /// buffer's number of elements.
  mlir::Value copied;
  int64_t room = 0;
};

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_CONV_CONVSUMS_H
