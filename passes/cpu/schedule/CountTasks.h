//===- CountTasks.h - number of tasks of a kernel ---------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_SCHEDULE_COUNTTASKS_H
#define INGOT_PASSES_CPU_SCHEDULE_COUNTTASKS_H

#include "passes/cpu/kernels/Addressing.h"
#include "passes/cpu/schedule/Tiling.h"

namespace ingot::cpu {

/// The tasks of a grid. `rowsPerTask` and `tilesPerTask` are the maximum
/// numbers of rows and of column tiles of a task. `rowBlocks` and
/// `columnBlocks` are the numbers of blocks. If the grid limits the number of
/// blocks, all numbers may be dynamic. Without a limit, only `rowBlocks` may be
/// dynamic.
struct TaskSplit {
  Index rowsPerTask, tilesPerTask, rowBlocks, columnBlocks;
};

/// Splits a product of `rows` rows and `tiles` tiles of columns into tasks.
TaskSplit splitTasks(IndexBuilder &b, const Grid &grid, Index rows,
                     int64_t tiles);

/// Returns the number of Winograd tiles along spatial dimension `d` of dst.
Index countWinogradTiles(IndexBuilder &b, mlir::Value dst, int64_t d,
                         int64_t outputs);

/// Returns the number of tasks of `op`, which is on memrefs, with its schedule.
/// The number does not depend on the target.
mlir::Value countTasks(mlir::OpBuilder &builder, cpu::ScheduledOpInterface op);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_SCHEDULE_COUNTTASKS_H
