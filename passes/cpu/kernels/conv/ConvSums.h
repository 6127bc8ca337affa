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

/// Sums of tiles of pixels that are of one row of dst.
struct ConvSums : ConvPart {
  ConvSums(ConvKernel &conv, ConvColumns &columns)
      : ConvPart(conv), columns(columns) {}

  /// Sums up all taps of a tile.
  Accumulators sumTile(const Tile &tile, const PixelTile &pixels,
                       const PixelsAt &pixelsAt, const ColumnAt &columnAt,
                       const NextWeights &next);

private:
  /// Adds the taps along the row: over src as it is, or
  Accumulators sumRow(const Tile &tile, const PixelTile &pixels,
                      llvm::ArrayRef<Index> srcAt,
                      llvm::ArrayRef<Index> weightsAt,
                      const Accumulators &start, const NextWeights &next);
  /// over a copy of the pixels in f32, or
  Accumulators sumAsFloats(const Tile &tile, const PixelTile &pixels,
                           Index from, Index panelAt,
                           const Accumulators &start);
  /// over a copy of bytes as words, zero points in the padding, or
  Accumulators sumWords(const Tile &tile, const PixelTile &pixels, Index from,
                        Index panelAt, llvm::ArrayRef<Index> taps,
                        const Accumulators &start);
  /// by pairs of bytes, over src or a copy with zero points in the padding, or
  Accumulators sumPairs(const Tile &tile, const PixelTile &pixels, Index from,
                        Index panelAt, llvm::ArrayRef<Index> taps,
                        const Accumulators &start);
  /// by AMX tiles, over the pixels as they are or over a copy with zeros in the
  /// padding.
  Accumulators sumAmx(const Tile &tile, const PixelTile &pixels, Index from,
                      Index panelAt, const Accumulators &start);

  /// The rows of each tap along the row of src; `asOne` if the taps follow each
  /// other, in memory as well. `apart` is how far in data, if all pixels have
  /// all taps.
  struct TapRows {
    bool asOne;
    std::optional<Index> apart;
    llvm::function_ref<SrcRows(int64_t tap)> rowsOf;
  };
  /// Adds the products of `depth` elements of each tap.
  Accumulators sumTaps(const TileWeights &weights, const TapRows &taps,
                       int64_t depth, const Accumulators &start,
                       const NextWeights &next = {});
  /// Copies the pixels of a tile, `pitch` elements apart, from tap 0 of the
  /// first on.
  void copyPadded(const PixelTile &pixels, Index from, int64_t pitch);
  /// Room for a copy, which all tiles share that fit in.
  mlir::Value roomFor(int64_t elements, mlir::Type type);

  ConvColumns &columns;
  /// Pixels, as they are multiplied, and how many elements there is room for.
  mlir::Value copied;
  int64_t room = 0;
};

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_CONV_CONVSUMS_H
