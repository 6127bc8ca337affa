//===- ConvGatheredPixels.h - sums over pixels at any address ---*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_KERNELS_CONV_CONVGATHEREDPIXELS_H
#define INGOT_PASSES_CPU_KERNELS_CONV_CONVGATHEREDPIXELS_H

#include "passes/cpu/kernels/conv/ConvKernel.h"

namespace ingot::cpu {

/// Sums of tiles whose pixels lie in any rows. The address of each pixel is
/// computed separately.
struct ConvGatheredPixels : ConvEmitterBase {
  using ConvEmitterBase::ConvEmitterBase;

  /// Returns true if the number of products of a pixel justifies the search for
  /// its address.
  bool isWorthIt(const Tile &tile) const;
  void findOrigins(const Tile &tile, llvm::ArrayRef<Index> first, Index count,
                   Index rows, Index group);
  /// Sums up all taps of a tile. The table of origins must be filled for the
  /// tile.
  Accumulators sumFound(const Tile &tile, const ColumnAt &columnAt,
                        const NextWeights &next);

private:
  SrcRows findPixels(const Tile &tile, llvm::ArrayRef<Index> taps,
                     mlir::Value &isAnyWithin);

  /// The table of the pixels' origins: the position of tap 0 in src.
  mlir::Value origins;
};

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_CONV_CONVGATHEREDPIXELS_H
