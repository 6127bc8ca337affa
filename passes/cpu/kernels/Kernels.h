//===- Kernels.h - what the code of kernels shares --------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel is a function that outline-kernels makes: it holds one cpu op on
// memrefs, which are its arguments, and its last argument is the task's number.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_KERNELS_KERNELS_H
#define INGOT_PASSES_CPU_KERNELS_KERNELS_H

#include "passes/cpu/products/Products.h"
#include "passes/cpu/schedule/ChooseSchedule.h"
#include "passes/cpu/schedule/Plans.h"

namespace ingot::cpu {

/// The number of the task, in the kernel around `op`; reports if `op` is in
/// none.
mlir::FailureOr<mlir::Value> taskOf(mlir::Operation *op);

/// Writes each kernel op of type `Op` with an `Emitter`, which is made from a
/// builder and the op and emits one task, given its number.
template <typename Op, typename Emitter>
mlir::LogicalResult emitKernels(mlir::ModuleOp module) {
  llvm::SmallVector<Op> ops;
  module->walk([&](Op op) { ops.push_back(op); });
  for (Op op : ops) {
    mlir::FailureOr<mlir::Value> task = taskOf(op);
    if (failed(task) || failed(checkSchedule(op)))
      return mlir::failure();
    mlir::OpBuilder builder(op);
    Emitter(builder, op).emit(*task);
    op.erase();
  }
  return mlir::success();
}

/// Writes what an `Emitter` makes of each op of type `Op` that `isFor` takes,
/// in place of it, and returns how many these were.
template <typename Op, typename Emitter>
unsigned emitInPlace(mlir::Operation *root,
                     llvm::function_ref<bool(Op)> isFor) {
  llvm::SmallVector<Op> ops;
  root->walk([&](Op op) {
    if (isFor(op))
      ops.push_back(op);
  });
  for (Op op : ops) {
    mlir::OpBuilder builder(op);
    Emitter(builder, op).emit();
    op.erase();
  }
  return ops.size();
}

/// The range of one task: a block of rows and a block of column tiles.
struct TaskRange {
  Index firstRow, endRow, firstTile, endTile;
};

/// Takes task `number` apart; `rows` are all rows, `tiles` all column tiles.
TaskRange rangeOf(IndexBuilder &b, mlir::Value number, const Grid &grid,
                  Index rows, int64_t tiles);

/// The register tile for full and for the last, partial column tile of a
/// tensor with `columns` columns.
Tile fullTile(const TargetInfo &target, const RegisterTile &tile);
Tile lastTile(const TargetInfo &target, const RegisterTile &tile,
              int64_t columns);

/// Column tiles [begin, end) of `count` (of one group), of which the last may
/// be partial.
struct ColumnTiles {
  Index begin, end;
  int64_t count;
};

/// Runs `body` for the column tiles, with the tile that fits each.
void forEachColumnTile(
    IndexBuilder &b, const ColumnTiles &tiles, const Tile &full,
    const Tile &last,
    llvm::function_ref<void(mlir::Value number, const Tile &tile)> body);

/// Runs `body` for the column tiles of a task of a product into `dst`, of
/// batches × rows × columns: the tile, which is `last` for the last columns,
/// where in the batch dimensions it is, and the column tile's number.
void forEachProductTile(
    IndexBuilder &b, mlir::Value task, mlir::Value dst, const Plan &plan,
    const Tile &last,
    llvm::function_ref<void(const Tile &tile, llvm::ArrayRef<Index> batch,
                            Index columnTile, const TaskRange &range)>
        body);

/// Puts what `body` builds into a function of its own, which the kernel of `op`
/// calls: kernels whose tasks are made up differently may then share the code
/// of their tiles (merge-kernels).
void buildInFunction(IndexBuilder &b, mlir::Operation *op,
                     llvm::function_ref<void()> body);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_KERNELS_H
