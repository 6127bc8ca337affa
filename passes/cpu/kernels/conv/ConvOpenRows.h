//===- ConvOpenRows.h - tiles of rows of open size --------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_KERNELS_CONV_CONVOPENROWS_H
#define INGOT_PASSES_CPU_KERNELS_CONV_CONVOPENROWS_H

#include "passes/cpu/kernels/conv/ConvKernel.h"

namespace ingot::cpu {

/// Tiles that lie in one row each, for rows of open size.
struct ConvOpenRows : ConvEmitterBase {
  using ConvEmitterBase::ConvEmitterBase;

  /// Returns true if tiles of one row are faster than tiles across rows.
  bool areWorthIt(const Tile &tile);
  void emit(const Tile &tile, const ColumnAt &columnAt, const TaskRange &range);

private:
  /// Emits a tile for the first `count` pixels, beginning with `pixelsAt`.
  void emitTile(const Tile &tile, const PixelsAt &pixelsAt, Index count,
                const ColumnAt &columnAt, const NextWeights &next);
  Accumulators sumRow(const Tile &tile, llvm::ArrayRef<Index> srcAt,
                      llvm::ArrayRef<Index> weightsAt,
                      const Accumulators &start, const NextWeights &next);
  void askFor(SrcRows &rows, int64_t r, Index coordinate);
};

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_CONV_CONVOPENROWS_H
