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

/// Sums of tiles of pixels in any rows. The address of each pixel is computed
/// on its own.
struct ConvGatheredPixels : ConvEmitterBase {
  using ConvEmitterBase::ConvEmitterBase;

  /// Returns true if a pixel has enough products to pay for finding its
  /// address.
  bool isWorthIt(const Tile &tile) const;
  void findOrigins(const Tile &tile, llvm::ArrayRef<Index> first, Index count,
                   Index rows, Index group);
  /// Sums up all taps of a tile whose origins are found.
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
