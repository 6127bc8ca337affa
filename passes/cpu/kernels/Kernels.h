//===- Kernels.h - helpers for the code of kernels --------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel is a function that outline-kernels makes. It holds one cpu op. The
// kernel's arguments are the op's memrefs and, last, the number of the task.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_KERNELS_KERNELS_H
#define INGOT_PASSES_CPU_KERNELS_KERNELS_H

#include "passes/cpu/products/Products.h"
#include "passes/cpu/schedule/ChooseSchedule.h"
#include "passes/cpu/schedule/Plans.h"

namespace ingot::cpu {

/// Returns the number of the task, from the kernel around `op`. Reports an
/// error if `op` is in no kernel.
mlir::FailureOr<mlir::Value> taskOf(mlir::Operation *op);

/// Writes the code of each kernel op of type `Op`. Constructs an `Emitter` from
/// a builder and the op, and passes it the number of the task to emit.
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

/// Replaces each op of type `Op` that `isFor` accepts with the code of an
/// `Emitter`. Returns the number of replaced ops.
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

/// Returns the range of task `number`; `rows` counts all rows, `tiles` all
/// column tiles.
TaskRange rangeOf(IndexBuilder &b, mlir::Value number, const Grid &grid,
                  Index rows, int64_t tiles);

/// Returns the register tile of a full column tile. `lastTile` returns the
/// register tile of the partial column tile at the end of `columns` columns.
Tile fullTile(const TargetInfo &target, const RegisterTile &tile);
Tile lastTile(const TargetInfo &target, const RegisterTile &tile,
              int64_t columns);

/// Column tiles [begin, end) of the `count` tiles of a group. The last tile of
/// a group may be partial.
struct ColumnTiles {
  Index begin, end;
  int64_t count;
};

/// Runs `body` for each of the column tiles, with `full` or `last` as the tile.
void forEachColumnTile(
    IndexBuilder &b, const ColumnTiles &tiles, const Tile &full,
    const Tile &last,
    llvm::function_ref<void(mlir::Value number, const Tile &tile)> body);

/// Runs `body` for each column tile of a product's task. `dst` has the
/// dimensions batches × rows × columns. `body` gets the tile (`last` for the
/// last columns), the batch indices and the number of the column tile.
void forEachProductTile(
    IndexBuilder &b, mlir::Value task, mlir::Value dst, const Plan &plan,
    const Tile &last,
    llvm::function_ref<void(const Tile &tile, llvm::ArrayRef<Index> batch,
                            Index columnTile, const TaskRange &range)>
        body);

/// Puts the code that `body` builds into a separate function, which the kernel
/// of `op` calls. Kernels with different tasks may then share the code of their
/// tiles (merge-kernels).
void buildInFunction(IndexBuilder &b, mlir::Operation *op,
                     llvm::function_ref<void()> body);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_KERNELS_H
