//===- CountTasks.h - how many tasks a kernel has ---------------*- C++ -*-===//
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

/// A grid for a number of rows: what a task has at most, and how many blocks of
/// rows and of columns there are. Known unless the grid limits blocks, but for
/// those of rows.
struct TaskSplit {
  Index rowsPerTask, tilesPerTask, rowBlocks, columnBlocks;
};

/// Splits `rows` and `tiles` column tiles.
TaskSplit splitTasks(IndexBuilder &b, const Grid &grid, Index rows,
                     int64_t tiles);

/// The tiles of minimal filtering along spatial dimension `d` of dst.
Index countWinogradTiles(IndexBuilder &b, mlir::Value dst, int64_t d,
                         int64_t outputs);

/// How many tasks `op`, on memrefs, is split into by its schedule: the target
/// has no part in it.
mlir::Value countTasks(mlir::OpBuilder &builder, cpu::ScheduledOpInterface op);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_SCHEDULE_COUNTTASKS_H
