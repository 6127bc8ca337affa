//===- DepthwiseDot.h - depthwise int8 in groups of four --------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_KERNELS_DEPTHWISE_DEPTHWISEDOT_H
#define INGOT_PASSES_CPU_KERNELS_DEPTHWISE_DEPTHWISEDOT_H

#include "passes/cpu/kernels/depthwise/DepthwiseKernel.h"

namespace ingot::cpu {

/// Products of int8 in groups of four, with 16 lanes. A tile is a whole block
/// of four vectors in the order of unpacking. Or it is one vector of up to
/// `lanes` channels in natural order.
struct DepthwiseDot : DepthwiseEmitterBase {
  explicit DepthwiseDot(DepthwiseKernel &kernel)
      : DepthwiseEmitterBase(kernel), fours(b, op.getGroupsOfFour()) {}

  void prepare(Index firstTile, Index endTile);
  /// Computes masks that select the weights for existing rows of src.
  void findMasks();
  void emitTile(const Tile &tile, const TilePosition &where);

private:
  void emitVector(const Tile &tile, const TilePosition &where);
  void emitBlock(const Tile &tile, const TilePosition &where);

  Flat fours;
};

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_DEPTHWISE_DEPTHWISEDOT_H
