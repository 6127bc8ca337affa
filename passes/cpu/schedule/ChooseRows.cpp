//===- ChooseRows.cpp - schedules over rows and channels ------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/schedule/ChooseSchedule.h"
#include "passes/support/Shapes.h"

#include "llvm/Support/MathExtras.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;
using support::shapeOf;

/// The cost of an element as a number of floating-point operations of a
/// product. These kernels wait for memory or compute polynomials.
static constexpr int64_t kPackCost = 2, kReduceCost = 8, kRoundCost = 16,
                         kNormCost = 24, kSoftmaxCost = 60;

/// Returns the product of sizes; unknown sizes count as 64.
static int64_t guessProduct(ArrayRef<int64_t> sizes) {
  int64_t product = 1;
  for (int64_t size : sizes)
    product *= ShapedType::isDynamic(size) ? 64 : size;
  return product;
}

static Grid splitRows(const TargetInfo &target, int64_t rows,
                      int64_t costPerRow) {
  return chooseGrid(target, {rows, /*columnTiles=*/1, costPerRow, /*rowUnit=*/1,
                     /*srcBytes=*/1, /*weightBytes=*/0});
}

static cpu::ScheduleAttr scheduleRows(Operation *op, int64_t cost) {
  ArrayRef<int64_t> shape = shapeOf(op->getOperand(0));
  return ScheduleBuilder(op).grid(
      splitRows(TargetInfo::of(op), support::productOf(shape.drop_back()),
                cost * guessProduct(shape.back())));
}

cpu::ScheduleAttr cpu::chooseSchedule(cpu::SoftmaxOp op) {
  ArrayRef<int64_t> shape = shapeOf(op.getSrc());
  if (op.getColumns()) {
    // Counts blocks of columns as rows.
    SmallVector<int64_t> rows(shape.drop_back(2));
    rows.push_back(ShapedType::isDynamic(shape.back())
                       ? shape.back()
                       : llvm::divideCeil(shape.back(), kSoftmaxColumns));
    return ScheduleBuilder(op).grid(
        splitRows(TargetInfo::of(op), support::productOf(rows),
                  kSoftmaxCost * guessProduct(shape[shape.size() - 2]) *
                      std::min(guessProduct(shape.back()), kSoftmaxColumns)));
  }
  return scheduleRows(op, kSoftmaxCost);
}

cpu::ScheduleAttr cpu::chooseSchedule(cpu::ResampleOp op) {
  ArrayRef<int64_t> dst = shapeOf(op.getDst());
  int64_t rows = op.numRowDims();
  return ScheduleBuilder(op).grid(splitRows(
      TargetInfo::of(op), support::productOf(dst.take_front(rows)),
      kReduceCost * op.numTaps() * guessProduct(dst.drop_front(rows))));
}

bool cpu::packsPositions(cpu::BandMatMulOp op) {
  int64_t channels = op.numChannels();
  return ShapedType::isStatic(channels) &&
         channels <= TargetInfo::of(op).lanes;
}

int64_t cpu::numRowDims(cpu::BandMatMulOp op) {
  return int64_t(op.getDim()) + (packsPositions(op) ? 0 : 1);
}

/// Returns the number of taps. If only a run knows it, returns the number for
/// an image that is reduced to a quarter.
static int64_t guessTaps(cpu::BandMatMulOp op) {
  constexpr int64_t kUsualTaps = 8;
  return ShapedType::isDynamic(op.numTaps()) ? kUsualTaps : op.numTaps();
}

cpu::ScheduleAttr cpu::chooseSchedule(cpu::BandMatMulOp op) {
  ArrayRef<int64_t> dst = shapeOf(op.getDst());
  int64_t rows = numRowDims(op);
  return ScheduleBuilder(op).grid(
      splitRows(TargetInfo::of(op), support::productOf(dst.take_front(rows)),
                2 * guessTaps(op) * guessProduct(dst.drop_front(rows))));
}

cpu::ScheduleAttr cpu::chooseSchedule(cpu::PackSignsOp op) {
  return scheduleRows(op, kPackCost);
}

cpu::ScheduleAttr cpu::chooseSchedule(cpu::RoundBlocksOp op) {
  return scheduleRows(op, kRoundCost);
}

cpu::ScheduleAttr cpu::chooseSchedule(cpu::RowNormOp op) {
  return scheduleRows(op, kNormCost);
}

/// Returns a tile with enough accumulators to hide the latency of an addition.
/// Usually eight are enough. With sums in f64, eight take all registers of
/// AVX2.
static RegisterTile columnTile(const TargetInfo &target, int64_t channels) {
  int64_t vectors =
      std::min<int64_t>(4, llvm::divideCeil(channels, target.lanes));
  int64_t sums = std::min(target.sumsInFlight(), target.numRegisters / 2);
  return {std::max<int64_t>(sums / vectors, 1), vectors};
}

cpu::ScheduleAttr cpu::chooseSchedule(cpu::ReduceOp op) {
  TargetInfo target = TargetInfo::of(op);
  ArrayRef<int64_t> src = shapeOf(op.getSrc());
  if (op.reducesRows())
    return ScheduleBuilder(op).grid(
        splitRows(target, src[0], kReduceCost * guessProduct(src[1])));
  if (ShapedType::isDynamic(src[2])) {
    // Counts tiles of columns as rows.
    constexpr int64_t kAll = std::numeric_limits<int32_t>::max();
    RegisterTile tile = columnTile(target, kAll);
    return ScheduleBuilder(op).tile(tile).grid(splitRows(
        target, src[2],
        kReduceCost * guessProduct(src[1]) * tile.vectors * target.lanes));
  }
  RegisterTile tile = columnTile(target, src[2]);
  int64_t tiles = llvm::divideCeil(src[2], tile.vectors * target.lanes);
  return ScheduleBuilder(op).tile(tile).grid(
      chooseGrid(target, {src[0], tiles,
                        kReduceCost * guessProduct({src[1], src[2]}),
                        /*rowUnit=*/1, /*srcBytes=*/0, /*weightBytes=*/0}));
}

cpu::ScheduleAttr cpu::chooseSchedule(cpu::PoolOp op) {
  TargetInfo target = TargetInfo::of(op);
  ArrayRef<int64_t> dst = shapeOf(op.getDst());
  RegisterTile tile = {1, columnTile(target, dst.back()).vectors};
  // Splits tasks by rows, because the channels of a pixel are contiguous.
  Grid grid = splitRows(target, support::productOf(dst.drop_back(2)),
                        kReduceCost * guessProduct(op.getKernel()) *
                            guessProduct(dst.take_back(2)));
  grid.columnTilesPerTask =
      llvm::divideCeil(dst.back(), tile.vectors * target.lanes);
  return ScheduleBuilder(op).tile(tile).grid(grid);
}

cpu::ScheduleAttr cpu::chooseSchedule(cpu::GroupNormOp op) {
  TargetInfo target = TargetInfo::of(op);
  int64_t all = shapeOf(op.getSrc())[2];
  int64_t perGroup = all / int64_t(op.getGroups());
  // Makes a tile of whole groups, with at least as many channels as four
  // vectors have.
  int64_t groups = llvm::divideCeil(4 * target.lanes, perGroup);
  int64_t channels = std::min(all, groups * perGroup);
  return ScheduleBuilder(op)
      .wholeGroups(channels)
      .grid({1, 1, /*rowsOutside=*/true});
}
