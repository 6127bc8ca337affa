//===- Plans.h - schedules as code generation reads them --------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan is the schedule of one kernel with the sizes that it applies to. Plans
// decide nothing: ChooseProducts.cpp and ChooseRows.cpp do.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_SCHEDULE_PLANS_H
#define INGOT_PASSES_CPU_SCHEDULE_PLANS_H

#include "dialects/cpu/PackedWeights.h"
#include "dialects/cpu/Winograd.h"
#include "passes/cpu/schedule/Tiling.h"

namespace ingot::cpu {

/// The common part of all plans.
struct Plan {
  explicit Plan(cpu::ScheduledOpInterface op);

  TargetInfo target;
  RegisterTile tile;
  Grid grid;
  /// The columns of dst: elements, or words of signs; may be dynamic.
  int64_t columns;
  /// The number of column tiles of all groups.
  int64_t tiles;
};

struct ConvPlan : Plan {
  explicit ConvPlan(cpu::ConvOp op);

  cpu::PackedWeights weights;
  int64_t panel, groups, tilesPerGroup, tilesPerPanel;
  /// The groups of a tap's channels to multiply with all rows of a task before
  /// the next groups; 0 for all at once.
  int64_t depthBlock;
  /// True if a row of the grid is a pixel of any row of dst.
  bool acrossRows;
};

/// Winograd's algorithm; rows are tiles of outputs x outputs pixels.
struct WinogradPlan : Plan {
  explicit WinogradPlan(cpu::WinogradConvOp op);
  /// Plans a convolution of bytes, whose weights are transformed at run time.
  explicit WinogradPlan(cpu::ConvOp op);

  cpu::PackedWeights weights;
  cpu::Winograd transform;
  int64_t panel, tilesPerPanel;
  /// The rows whose pixels are transformed together.
  int64_t blockRows;
  /// The groups of channels whose weights are transformed together, for bytes.
  int64_t depthBlock = 0;

private:
  WinogradPlan(cpu::ScheduledOpInterface op, mlir::Value weights,
               const cpu::Winograd &transform);
};

struct MatMulPlan : Plan {
  explicit MatMulPlan(cpu::MatMulOp op);

  cpu::PackedWeights weights;
  int64_t panel, tilesPerPanel;
  /// The rows of a matrix; may be dynamic.
  int64_t rows;
  /// The groups of k to multiply with all rows of a task before the next
  /// groups; 0 for all at once.
  int64_t depthBlock;
};

struct PackedMatMulPlan : Plan {
  explicit PackedMatMulPlan(cpu::PackedMatMulOp op);

  int64_t panel, tilesPerPanel;
  /// The rows of a matrix; may be dynamic.
  int64_t rows;
};

struct DepthwisePlan : Plan {
  explicit DepthwisePlan(cpu::DepthwiseConvOp op);

  /// The vectors of channels that a task takes through all of its rows.
  int64_t tilesPerBlock;
};

/// Attention; a task is a block of queries of one head.
struct AttentionPlan : Plan {
  explicit AttentionPlan(cpu::AttentionOp op);

  /// The tile of scores: keys by vectors of queries. `tile` is queries by
  /// vectors of values.
  RegisterTile scores;
  int64_t queriesPerTask;
  /// True if the products are of bf16.
  bool isNarrow;
  /// True if keys come in blocks of `keysAtOnce`; else all keys come at once.
  bool byBlocks;
  int64_t keysAtOnce;
};

/// A recurrence; a task is a block of sequences in one direction.
struct RecurrentPlan : Plan {
  explicit RecurrentPlan(cpu::RecurrentOp op);

  int64_t hidden;
};

/// Tiles of the channels of a reduction, a pooling or a group norm.
struct ColumnPlan : Plan {
  explicit ColumnPlan(cpu::ScheduledOpInterface op);

  int64_t channelsPerTile;
};

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_SCHEDULE_PLANS_H
