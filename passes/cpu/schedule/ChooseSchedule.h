//===- ChooseSchedule.h - choice and check of schedules ---------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_SCHEDULE_CHOOSESCHEDULE_H
#define INGOT_PASSES_CPU_SCHEDULE_CHOOSESCHEDULE_H

#include "passes/cpu/policy/Thresholds.h"
#include "passes/cpu/schedule/Tiling.h"

namespace ingot::cpu {

/// Returns the default schedule of the kernel for the target of its module.
cpu::ScheduleAttr chooseSchedule(cpu::ScheduledOpInterface op);

/// Returns a random schedule that fits the op and the target, for tests.
cpu::ScheduleAttr drawSchedule(cpu::ScheduledOpInterface op, uint64_t seed);

cpu::ScheduleAttr chooseSchedule(cpu::AttentionOp op);
/// Returns the kind of product of an attention.
Product attentionProduct(cpu::AttentionOp op, const TargetInfo &target);
/// Returns the kind of product of a matmul with weights of a few bits.
Product packedProduct(cpu::PackedMatMulOp op, const TargetInfo &target);
cpu::ScheduleAttr chooseSchedule(cpu::ConvOp op);
cpu::ScheduleAttr chooseSchedule(cpu::DepthwiseConvOp op);
cpu::ScheduleAttr chooseSchedule(cpu::GroupNormOp op);
cpu::ScheduleAttr chooseSchedule(cpu::MatMulOp op);
cpu::ScheduleAttr chooseSchedule(cpu::PackedMatMulOp op);
cpu::ScheduleAttr chooseSchedule(cpu::PoolOp op);
cpu::ScheduleAttr chooseSchedule(cpu::RecurrentOp op);
cpu::ScheduleAttr chooseSchedule(cpu::ReduceOp op);
cpu::ScheduleAttr chooseSchedule(cpu::PackSignsOp op);
cpu::ScheduleAttr chooseSchedule(cpu::RoundBlocksOp op);
cpu::ScheduleAttr chooseSchedule(cpu::RowNormOp op);
cpu::ScheduleAttr chooseSchedule(cpu::ResampleOp op);
cpu::ScheduleAttr chooseSchedule(cpu::BandMatMulOp op);
/// Returns true if a vector of a banded product holds whole positions of src.
/// The partial sums in the vector are then added up at the end. Otherwise a
/// vector holds channels.
bool packsPositions(cpu::BandMatMulOp op);
/// Returns the number of leading dimensions whose product is the number of rows
/// of a banded product.
int64_t numRowDims(cpu::BandMatMulOp op);
cpu::ScheduleAttr chooseSchedule(cpu::SoftmaxOp op);
cpu::ScheduleAttr chooseSchedule(cpu::WinogradConvOp op);

/// Returns the bytes of a memref. A memref of open size counts as one mebibyte.
int64_t bytesOf(mlir::Value value);

/// Returns the assumed pixels of an image of open size.
inline int64_t usualPixels() {
  return threshold::usualSide * threshold::usualSide;
}

/// Returns the schedule of a convolution of bytes by Winograd's algorithm.
/// `direct` is the cost of the direct convolution: the number of instructions
/// for a vector of columns, four channels, one pixel and one tap. Returns null
/// if `direct` is less, or if Winograd is not proved exact.
cpu::ScheduleAttr chooseWinograd(cpu::ConvOp op, double direct);

/// Reports an error if the op has no schedule, or if the target lacks registers
/// or instructions for it. The op's verifier checks everything else.
mlir::LogicalResult checkSchedule(cpu::ScheduledOpInterface op);

/// Returns true if the first-level cache holds the copies that padding needs,
/// for AMX tiles of `rows` pixels.
bool fitsCopy(cpu::ConvOp op, const TargetInfo &target, int64_t rows);

/// Returns true if single channels of bytes can be multiplied as pairs of
/// int16, which needs vectors of up to 256 bits.
bool canPairInt16(cpu::DepthwiseConvOp op, const TargetInfo &target);

/// Returns true if single channels of bytes can be multiplied in groups of four
/// taps. With a single row of taps this does not pay: each group above each
/// other would hold one tap and three zeros.
bool canGroupFour(cpu::DepthwiseConvOp op, const TargetInfo &target);

/// Returns true if vectors of 512 bits multiply single channels in groups of
/// four taps.
bool multipliesBlocks(const TargetInfo &target);

/// Returns the default kind of product of single channels.
Product depthwiseProduct(cpu::DepthwiseConvOp op, const TargetInfo &target);

/// Returns the number of channels of a tile of single channels: a vector of
/// channels, or a block of bytes that is unpacked together.
int64_t depthwiseColumns(cpu::DepthwiseConvOp op, const TargetInfo &target,
                         Product product);

/// Returns the grid. If `op` stores signs, a task gets enough column tiles that
/// no two tasks share a word of signs.
template <typename Op>
Grid withWholeWords(Op op, int64_t columns, Grid grid) {
  grid.columnTilesPerTask = int64_t(llvm::alignTo(
      grid.columnTilesPerTask, op.tilesOfWords(columns)));
  return grid;
}

/// Builds a schedule. Columns are counted in vectors of the target.
class ScheduleBuilder {
public:
  explicit ScheduleBuilder(mlir::Operation *op);

  ScheduleBuilder &tile(const RegisterTile &tile);
  ScheduleBuilder &scores(const RegisterTile &tile);
  /// Sets a tile of one row. Its channels need not fill vectors.
  ScheduleBuilder &wholeGroups(int64_t channels);
  ScheduleBuilder &grid(const Grid &grid);
  ScheduleBuilder &depthBlock(int64_t groups);
  ScheduleBuilder &tileBlock(int64_t tiles);
  ScheduleBuilder &acrossRows(bool acrossRows);
  ScheduleBuilder &winograd(int64_t tileOutputs);
  operator cpu::ScheduleAttr() const;

private:
  cpu::TileAttr inColumns(const RegisterTile &tile) const;

  mlir::MLIRContext *context;
  int64_t lanes;
  cpu::TileAttr tileAttr, scoresAttr;
  cpu::GridAttr gridAttr;
  int64_t depth = 0, tiles = 0, outputs = 0;
  bool prefetch = false, isAcrossRows = false;
};

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_SCHEDULE_CHOOSESCHEDULE_H
