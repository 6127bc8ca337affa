//===- ChooseSchedule.h - schedules and what they must fit ------*- C++ -*-===//
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

/// The schedule that the kernel gets if nobody gave it one, for the target of
/// its module.
cpu::ScheduleAttr chooseSchedule(cpu::ScheduledOpInterface op);

/// One of all that fit the op and the target, for tests.
cpu::ScheduleAttr drawSchedule(cpu::ScheduledOpInterface op, uint64_t seed);

cpu::ScheduleAttr chooseSchedule(cpu::AttentionOp op);
/// What an attention multiplies by.
Product attentionProduct(cpu::AttentionOp op, const TargetInfo &target);
/// What a product with weights of a few bits multiplies by.
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
/// Returns true if a vector of a banded product holds whole positions of src,
/// whose partial sums are added up at last. Otherwise it holds channels.
bool packsPositions(cpu::BandMatMulOp op);
/// The dimensions over which rows of a banded product are counted.
int64_t numRowDims(cpu::BandMatMulOp op);
cpu::ScheduleAttr chooseSchedule(cpu::SoftmaxOp op);
cpu::ScheduleAttr chooseSchedule(cpu::WinogradConvOp op);

/// The bytes of a memref; a mebibyte is assumed of one of open size.
int64_t bytesOf(mlir::Value value);

/// Pixels of an image that are assumed where their number is open.
constexpr int64_t kUsualPixels = threshold::usualSide * threshold::usualSide;

/// Of a convolution of bytes by minimal filtering; null where `direct`, what it
/// takes otherwise for each four channels and vector of columns of a pixel and
/// tap, in instructions, is less, or where it is not proved to be exact.
cpu::ScheduleAttr chooseFiltering(cpu::ConvOp op, double direct);

/// Reports where there is no schedule, or where the target has neither
/// registers nor instructions for it. All else the op's verifier knows.
mlir::LogicalResult checkSchedule(cpu::ScheduledOpInterface op);

/// Whether AMX tiles of `rows` pixels find room in the first-level cache for
/// the copies that padding takes.
bool fitsCopy(cpu::ConvOp op, const TargetInfo &target, int64_t rows);

/// Whether single channels of bytes can be multiplied as pairs of words: by
/// vectors of up to 256 bits.
bool canPairWords(cpu::DepthwiseConvOp op, const TargetInfo &target);

/// Whether fours of single channels are multiplied by vectors for which
/// `cpu::ByteFours` has the weights: of 512 bits.
bool multipliesBlocks(const TargetInfo &target);

/// What single channels are multiplied with unless somebody says otherwise.
Product depthwiseProduct(cpu::DepthwiseConvOp op, const TargetInfo &target);

/// The channels of a tile of single channels: a vector of them, or a block of
/// bytes that is unpacked at once.
int64_t depthwiseColumns(cpu::DepthwiseConvOp op, const TargetInfo &target,
                         Product product);

/// The grid with tasks of so many column tiles that words of signs, if `op`
/// stores these, are theirs alone.
template <typename Op>
Grid withWholeWords(Op op, int64_t columns, Grid grid) {
  grid.columnTilesPerTask = int64_t(llvm::alignTo(
      grid.columnTilesPerTask, op.tilesOfWords(columns)));
  return grid;
}

/// Puts a schedule together, columns being counted in vectors of the target.
class ScheduleBuilder {
public:
  explicit ScheduleBuilder(mlir::Operation *op);

  ScheduleBuilder &tile(const RegisterTile &tile);
  ScheduleBuilder &scores(const RegisterTile &tile);
  /// A tile of one row of channels that need not fill vectors.
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
