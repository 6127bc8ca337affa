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

/// The tasks of a grid: the most rows and column tiles of a task, and the
/// numbers of blocks of rows and of columns. If the grid limits the number of
/// blocks, all may be dynamic; else only `rowBlocks` may be.
struct TaskSplit {
  Index rowsPerTask, tilesPerTask, rowBlocks, columnBlocks;
};

/// Splits `rows` and `tiles` column tiles.
TaskSplit splitTasks(IndexBuilder &b, const Grid &grid, Index rows,
                     int64_t tiles);

/// Returns the number of Winograd tiles along spatial dimension `d` of dst.
Index countWinogradTiles(IndexBuilder &b, mlir::Value dst, int64_t d,
                         int64_t outputs);

/// Returns the number of tasks into which the schedule of `op` splits it. `op`
/// is on memrefs. The number does not depend on the target.
mlir::Value countTasks(mlir::OpBuilder &builder, cpu::ScheduledOpInterface op);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_SCHEDULE_COUNTTASKS_H
