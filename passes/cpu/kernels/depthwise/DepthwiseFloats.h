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

  void emitTile(const Tile &tile, const TilePosition &where);

private:
  Accumulators sumTile(const Tile &tile, const TilePosition &where);
  Accumulators sumBorder(const Tile &tile, const TilePosition &where);
  Accumulators sumRow(const Tile &tile, const TilePosition &where,
                      llvm::ArrayRef<Index> srcAt,
                      llvm::ArrayRef<Index> weightsAt,
                      const Accumulators &start);
  mlir::Value floatZeros(mlir::Type type);
  mlir::Value toFloats(mlir::Value pixel);
  mlir::Value memberOfGroups(mlir::Value pixel, int64_t member, int64_t size);
};

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_DEPTHWISE_DEPTHWISEFLOATS_H
