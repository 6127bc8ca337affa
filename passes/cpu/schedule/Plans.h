//===- Plans.h - schedules as code generation reads them --------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan is the schedule of one kernel with the sizes that it applies to. Plans
// make no decisions; these are in ChooseProducts.cpp and ChooseRows.cpp.
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
  /// The number of columns of dst, in elements or in words of signs; may be
  /// dynamic.
  int64_t columns;
  /// The number of column tiles of all groups.
  int64_t tiles;
};

struct ConvPlan : Plan {
  explicit ConvPlan(cpu::ConvOp op);

  cpu::PackedWeights weights;
  int64_t panel, groups, tilesPerGroup, tilesPerPanel;
  /// The number of groups of channels in a block; a block belongs to one tap. A
  /// task multiplies all its rows by a block before it loads the next block. 0
  /// if there is a single block.
  int64_t depthBlock;
  /// True if the rows of the grid are the pixels of all rows of dst, one row
  /// after the other.
  bool acrossRows;
};

/// Winograd's algorithm; rows are tiles of outputs x outputs pixels.
struct WinogradPlan : Plan {
  explicit WinogradPlan(cpu::WinogradConvOp op);
  /// Plans a convolution of bytes. Its weights are transformed at run time.
  explicit WinogradPlan(cpu::ConvOp op);

  cpu::PackedWeights weights;
  cpu::Winograd transform;
  int64_t panel, tilesPerPanel;
  /// The number of rows whose pixels are transformed together.
  int64_t blockRows;
  /// The number of groups of channels whose weights are transformed together,
  /// for bytes.
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
  /// The number of groups of k in a block. A task multiplies all its rows by a
  /// block before it loads the next block. 0 if there is a single block.
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

  /// The number of vectors of channels in a block. A task computes all its rows
  /// for a block before the next block.
  int64_t tilesPerBlock;
};

/// Attention; a task is a block of queries of one head.
struct AttentionPlan : Plan {
  explicit AttentionPlan(cpu::AttentionOp op);

  /// The tile of scores, keys by vectors of queries. `tile` is that of the
  /// result, queries by vectors of values.
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
