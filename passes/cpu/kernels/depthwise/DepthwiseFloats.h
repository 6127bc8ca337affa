//===- DepthwiseFloats.h - depthwise sums in f32 ----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_KERNELS_DEPTHWISE_DEPTHWISEFLOATS_H
#define INGOT_PASSES_CPU_KERNELS_DEPTHWISE_DEPTHWISEFLOATS_H

#include "passes/cpu/kernels/depthwise/DepthwiseKernel.h"

namespace ingot::cpu {

/// Tiles whose elements are all multiplied as f32.
struct DepthwiseFloats : DepthwiseEmitterBase {
  using DepthwiseEmitterBase::DepthwiseEmitterBase;

  /// Converts weights of bytes to floats in a buffer on the stack, once for the
  /// tiles [firstTile, endTile) of channels. Does nothing for other weights and
  /// for weights that are too many for the stack.
  void prepare(Index firstTile, Index endTile);
  void emitTile(const Tile &tile, const TilePosition &where);

private:
  Accumulators sumTile(const Tile &tile, const TilePosition &where);
  Accumulators sumBorder(const Tile &tile, const TilePosition &where);
  Accumulators sumRow(const Tile &tile, const TilePosition &where,
                      llvm::ArrayRef<Index> srcAt,
                      llvm::ArrayRef<Index> weightsAt,
                      const Accumulators &start);
  /// Loads a vector of weights and converts bytes to floats.
  mlir::Value loadWeights(const Tile &tile, const Flat &from, Index at);
  mlir::Value floatZeros(mlir::Type type);
  mlir::Value toFloats(mlir::Value pixel);
  mlir::Value memberOfGroups(mlir::Value pixel, int64_t member, int64_t size);

  /// Converted weights, from channel `firstPrepared` on.
  std::optional<Flat> prepared;
  Index firstPrepared;
};

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_DEPTHWISE_DEPTHWISEFLOATS_H
