//===- ConvEmitter.h - code of a convolution --------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_KERNELS_CONV_CONVEMITTER_H
#define INGOT_PASSES_CPU_KERNELS_CONV_CONVEMITTER_H

#include "passes/cpu/kernels/conv/ConvAcrossRows.h"
#include "passes/cpu/kernels/conv/ConvOpenRows.h"

namespace ingot::cpu {

/// Emits one task of a convolution. ConvToVector.cpp has the loops,
/// ConvBlocks.cpp the loops by blocks of weights, and ConvSigns.cpp the sums of
/// signs.
struct ConvEmitter : ConvEmitterBase {
  explicit ConvEmitter(ConvKernel &conv)
      : ConvEmitterBase(conv), columns(conv), sums(conv, columns),
        acrossRows(conv, columns, sums), openRows(conv) {}

  void emit(mlir::Value task);

private:
  void emitColumns(const Tile &tile, const ColumnAt &columnAt,
                   const TaskRange &range);
  void emitRow(const Tile &tile, const ColumnAt &columnAt, Index row,
               Index rowInTask);
  void emitTile(const Tile &tile, const PixelTile &pixels,
                const PixelsAt &pixelsAt, const ColumnAt &columnAt,
                const NextWeights &next);
  /// Sums up products of signs.
  Accumulators sumSigns(const Tile &tile, const PixelTile &pixels,
                        const PixelsAt &pixelsAt, const ColumnAt &columnAt);
  /// Emits a task by blocks of weights, which serve all rows of the task.
  void emitBlocks(const Tile &tile, const ColumnAt &columnAt,
                  const TaskRange &range);

  ConvColumns columns;
  ConvSums sums;
  ConvAcrossRows acrossRows;
  ConvOpenRows openRows;
  /// The partial sums between two blocks of weights.
  mlir::Value waiting;
};

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_CONV_CONVEMITTER_H
