//===- Plans.h - schedules as code generation reads them --------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan is the schedule of one kernel beside the sizes that it is applied to.
// It decides nothing: ChooseProducts.cpp and ChooseRows.cpp do.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_SCHEDULE_PLANS_H
#define INGOT_PASSES_CPU_SCHEDULE_PLANS_H

#include "dialects/cpu/PackedWeights.h"
#include "dialects/cpu/Winograd.h"
#include "passes/cpu/schedule/Tiling.h"

namespace ingot::cpu {

/// What all plans have.
struct Plan {
  explicit Plan(cpu::ScheduledOpInterface op);

  TargetInfo target;
  RegisterTile tile;
  Grid grid;
  /// Columns of dst, which are its elements but for signs; known or not.
  int64_t columns;
  /// Column tiles of all groups.
  int64_t tiles;
};

struct ConvPlan : Plan {
  explicit ConvPlan(cpu::ConvOp op);

  cpu::PackedWeights weights;
  int64_t panel, groups, tilesPerGroup, tilesPerPanel;
  /// Groups of a tap's channels that are multiplied with all rows of a task
  /// before the next ones; 0 for all at once.
  int64_t depthBlock;
  /// Whether rows of the grid are pixels of all rows of dst.
  bool acrossRows;
};

/// Minimal filtering: rows are tiles of outputs x outputs pixels.
struct WinogradPlan : Plan {
  explicit WinogradPlan(cpu::WinogradConvOp op);
  /// Of bytes, whose weights are transformed in the run.
  explicit WinogradPlan(cpu::ConvOp op);

  cpu::PackedWeights weights;
  cpu::Winograd transform;
  int64_t panel, tilesPerPanel;
  /// Rows whose pixels are transformed at a time.
  int64_t blockRows;
  /// Groups of channels whose weights are, of bytes.
  int64_t depthBlock = 0;

private:
  WinogradPlan(cpu::ScheduledOpInterface op, mlir::Value weights,
               const cpu::Winograd &transform);
};

struct MatMulPlan : Plan {
  explicit MatMulPlan(cpu::MatMulOp op);

  cpu::PackedWeights weights;
  int64_t panel, tilesPerPanel;
  /// Rows of a matrix: known or not.
  int64_t rows;
  /// Groups of k that are multiplied with all rows of a task before the next
  /// ones; 0 for all at once.
  int64_t depthBlock;
};

struct PackedMatMulPlan : Plan {
  explicit PackedMatMulPlan(cpu::PackedMatMulOp op);

  int64_t panel, tilesPerPanel;
  /// Rows of a matrix: known or not.
  int64_t rows;
};

struct DepthwisePlan : Plan {
  explicit DepthwisePlan(cpu::DepthwiseConvOp op);

  /// Vectors of channels that a task takes through all of its rows.
  int64_t tilesPerBlock;
};

/// Attention: a block of queries of one head is a task.
struct AttentionPlan : Plan {
  explicit AttentionPlan(cpu::AttentionOp op);

  /// Keys times vectors of queries; `tile` is queries times vectors of values.
  RegisterTile scores;
  int64_t queriesPerTask;
  /// Whether its products are of bf16.
  bool isNarrow;
  /// Whether keys come in blocks, and how many at once, else all.
  bool byBlocks;
  int64_t keysAtOnce;
};

/// A recurrence: a block of sequences in one direction is a task.
struct RecurrentPlan : Plan {
  explicit RecurrentPlan(cpu::RecurrentOp op);

  int64_t hidden;
};

/// Channels of a reduction, of a pooling or of a group norm, in tiles.
struct ColumnPlan : Plan {
  explicit ColumnPlan(cpu::ScheduledOpInterface op);

  int64_t channelsPerTile;
};

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_SCHEDULE_PLANS_H
