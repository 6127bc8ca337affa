//===- MatMulEmitter.h - code of matrix products ----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The code of matrix products. MatMulToVector.cpp has the loops and sums,
// MatMulOpenRows.cpp the tiles of rows with an open number.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_KERNELS_MATMUL_MATMULEMITTER_H
#define INGOT_PASSES_CPU_KERNELS_MATMUL_MATMULEMITTER_H

#include "passes/cpu/kernels/Kernels.h"
#include "passes/cpu/kernels/RowTiling.h"
#include "passes/cpu/kernels/conv/BlockProducts.h"
#include "passes/cpu/products/PairProducts.h"
#include "passes/cpu/products/WidenedWeights.h"

namespace ingot::cpu {

/// A column tile of one product of a batch.
struct ColumnTile {
  /// The offset of its weights, and its first column.
  Index weightsAt, first;
  llvm::ArrayRef<Index> batch;
};

/// A function that gets a row tile, its first row, and its number in the task.
using RowTileFn =
    llvm::function_ref<void(const Tile &tile, Index row, Index number)>;

struct MatMulEmitter {
  MatMulEmitter(mlir::OpBuilder &builder, cpu::MatMulOp op)
      : b{builder, op.getLoc()}, op(op), plan(op), src(b, op.getSrc()),
        weights(b, op.getWeights()), output(b, op) {}

  void emit(mlir::Value task);
  Tile tileOf(const Tile &tile, int64_t count) const;
  void forEachRowTile(const Tile &tile, const TaskRange &range, RowTileFn body);
  void forEachEvenRowTile(const Tile &tile, const TaskRange &range,
                          RowTileFn body);
  void forEachOpenRowTile(const Tile &tile, const TaskRange &range,
                          RowTileFn body);
  llvm::SmallVector<int64_t> smallerTiles(const Tile &tile);
  bool canRepeatRows(const Tile &tile);
  bool takesPanels(const Tile &tile);
  void emitPanel(const Tile &tile, const ColumnTile &panel,
                 const TaskRange &range);
  void emitColumns(const Tile &tile, llvm::ArrayRef<Index> batch,
                   Index columnTile, TaskRange range);
  bool hasFunction(const Tile &tile);
  bool tellsLanes(const Tile &tile);
  Accumulators sum(const Tile &tile, const ColumnTile &columns, Index row,
                   std::optional<Index> number, const NextWeights &next);
  /// Sums up row tile `number` of a task. The first row tile widens the weights
  /// for all others.
  Accumulators sumWidened(const TileWeights &tile, std::optional<Index> number,
                          MultiplyFn multiply) {
    return widened && number ? widened->sum(b, tile, *number, multiply)
                             : multiply(tile);
  }
  void store(const Tile &tile, const Accumulators &sums,
             const ColumnTile &columns, Index row);
  void emitBlocks(const Tile &tile, const ColumnTile &columns,
                  const TaskRange &range);
  Index numTiles(const TaskRange &range);
  /// Returns the largest number of rows of a task; dynamic if the matrix has
  /// open rows.
  int64_t rowsOfTask() const {
    return mlir::ShapedType::isDynamic(plan.rows)
               ? plan.rows
               : std::min(plan.rows, plan.grid.rowsPerTask);
  }

  IndexBuilder b;
  cpu::MatMulOp op;
  MatMulPlan plan;
  Flat src, weights;
  Output output;
  /// The partial sums between two blocks of k.
  mlir::Value waiting;
  std::optional<PanelBlocks> blocks;
  std::optional<PairLists> pairs;
  std::optional<Int16Weights> wide;
  std::optional<WidenedWeights> widened;
};

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_MATMUL_MATMULEMITTER_H
