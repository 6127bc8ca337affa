//===- ChooseSchedule.cpp - choice and check of schedules -----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/schedule/ChooseSchedule.h"

#include "dialects/cpu/GroupsOfFour.h"
#include "dialects/ingot/IngotDialect.h"
#include "passes/cpu/policy/Thresholds.h"
#include "passes/support/Shapes.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

//===----------------------------------------------------------------------===//
// Choosing
//===----------------------------------------------------------------------===//

cpu::ScheduleAttr cpu::chooseSchedule(cpu::ScheduledOpInterface op) {
  return TypeSwitch<Operation *, cpu::ScheduleAttr>(op)
      .Case<cpu::AttentionOp, cpu::BandMatMulOp, cpu::ConvOp,
            cpu::DepthwiseConvOp, cpu::GroupNormOp, cpu::MatMulOp,
            cpu::PackedMatMulOp, cpu::PackSignsOp, cpu::PoolOp,
            cpu::RecurrentOp, cpu::ReduceOp, cpu::ResampleOp,
            cpu::RoundBlocksOp, cpu::RowNormOp, cpu::SoftmaxOp,
            cpu::WinogradConvOp>(
          [](auto kernel) { return chooseSchedule(kernel); });
}

ScheduleBuilder::ScheduleBuilder(Operation *op)
    : context(op->getContext()), lanes(TargetInfo::of(op).lanes) {}

cpu::TileAttr ScheduleBuilder::inColumns(const RegisterTile &tile) const {
  return cpu::TileAttr::get(context, tile.rows, tile.vectors * lanes,
                            tile.product, tile.amxRows);
}

ScheduleBuilder &ScheduleBuilder::tile(const RegisterTile &tile) {
  tileAttr = inColumns(tile);
  return *this;
}

ScheduleBuilder &ScheduleBuilder::scores(const RegisterTile &tile) {
  scoresAttr = inColumns(tile);
  return *this;
}

ScheduleBuilder &ScheduleBuilder::wholeGroups(int64_t channels) {
  tileAttr = cpu::TileAttr::get(context, 1, channels, Product::f32, 0);
  return *this;
}

ScheduleBuilder &ScheduleBuilder::grid(const Grid &grid) {
  gridAttr = cpu::GridAttr::get(context, grid.rowsPerTask,
                                grid.columnTilesPerTask, grid.rowsOutside,
                                grid.rowBlocks, grid.wholeFrom);
  prefetch = grid.prefetch;
  return *this;
}

ScheduleBuilder &ScheduleBuilder::depthBlock(int64_t groups) {
  depth = groups;
  return *this;
}

ScheduleBuilder &ScheduleBuilder::tileBlock(int64_t count) {
  tiles = count;
  return *this;
}

ScheduleBuilder &ScheduleBuilder::acrossRows(bool acrossRows) {
  isAcrossRows = acrossRows;
  return *this;
}

ScheduleBuilder &ScheduleBuilder::winograd(int64_t tileOutputs) {
  outputs = tileOutputs;
  return *this;
}

ScheduleBuilder::operator cpu::ScheduleAttr() const {
  return cpu::ScheduleAttr::get(context, tileAttr, gridAttr, scoresAttr, depth,
                                tiles, prefetch, isAcrossRows, outputs);
}

//===----------------------------------------------------------------------===//
// Checking
//===----------------------------------------------------------------------===//

int64_t cpu::registersOf(const RegisterTile &tile) {
  // Counts sums of a block, accumulators, codes of each column, their words, a
  // mask and an element of src.
  if (tile.hasBlocks)
    return 2 * tile.rows * tile.vectors + tile.vectors + 3;
  // Counts accumulators, weights of each column, and an element of src.
  const ProductInfo &info = infoOf(tile.product);
  int64_t perWeights = tile.hasInt16Weights ? 1 : info.weightRegisters;
  return info.sumRegisters * tile.rows * tile.vectors +
         perWeights * tile.vectors + 1;
}

/// Returns true if `op` convolves single channels of bytes.
static bool hasSingleBytes(cpu::DepthwiseConvOp op) {
  return getElementTypeOrSelf(op.getSrc().getType()).isInteger(8) &&
         op.groupSize() == 1;
}

bool cpu::canPairInt16(cpu::DepthwiseConvOp op, const TargetInfo &target) {
  return hasSingleBytes(op) && target.lanes <= 8;
}

bool cpu::canGroupFour(cpu::DepthwiseConvOp op, const TargetInfo &target) {
  ArrayRef<int64_t> weights = support::shapeOf(op.getWeights());
  return hasSingleBytes(op) && target.hasVNNI &&
         support::productOf(weights.drop_back(2)) > 1;
}

bool cpu::multipliesBlocks(const TargetInfo &target) {
  return target.lanes == cpu::GroupsOfFour::kVector;
}

Product cpu::depthwiseProduct(cpu::DepthwiseConvOp op,
                              const TargetInfo &target) {
  ArrayRef<int64_t> weights = support::shapeOf(op.getWeights());
  const int64_t taps = support::productOf(weights.drop_back());
  if (target.hasVNNI && multipliesBlocks(target) &&
      taps > threshold::depthwiseMostByteTaps)
    return Product::f32;
  if (canGroupFour(op, target))
    return Product::int8Dot;
  const bool areBytes =
      getElementTypeOrSelf(op.getDst().getType()).isInteger(8);
  bool pays = taps >= (areBytes ? threshold::depthwisePairedTapsToBytes
                                : threshold::depthwisePairedTaps) &&
              support::shapeOf(op.getDst()).back() >= target.lanes;
  return canPairInt16(op, target) && pays ? Product::int8Wide : Product::f32;
}

int64_t cpu::depthwiseColumns(cpu::DepthwiseConvOp op, const TargetInfo &target,
                              Product product) {
  if (product != Product::int8Dot && product != Product::int8Wide)
    return target.lanes;
  if (product == Product::int8Dot && multipliesBlocks(target))
    return cpu::GroupsOfFour::kBlock;
  // Uses blocks of four vectors, which unpack best. Uses two if registers
  // cannot hold the sums of all pixels that use one column of src.
  int64_t reach = (support::shapeOf(op.getWeights()).drop_back().back() - 1) *
                  op.getDilations().back();
  int64_t sums = reach / op.getStrides().back() + 1;
  return (4 * sums <= target.numRegisters * 3 / 4 ? 4 : 2) * target.lanes;
}

/// Returns true if `op` multiplies bytes by Winograd's algorithm.
static bool isWinograd(Operation *op) {
  auto conv = dyn_cast<cpu::ConvOp>(op);
  return conv && conv.getScheduleAttr().getWinograd() != 0;
}

/// Checks that the tile consists of whole vectors and stays in registers.
static LogicalResult checkTile(Operation *op, cpu::TileAttr tile) {
  TargetInfo target = TargetInfo::of(op);
  StringRef level = TargetAttr::of(op).getLevel();
  Product product = tile.getProduct();
  if (!infoOf(product).isSupported(target))
    return op->emitOpError("expects a product that ")
           << level << " has instructions for, but got "
           << stringifyProduct(product);
  if (tile.getColumns() % target.lanes != 0)
    return op->emitOpError("expects columns of a tile in vectors of ")
           << target.lanes << " elements, as " << level << " has them, but got "
           << tile.getColumns();
  int64_t vectors = tile.getColumns() / target.lanes;
  // Accepts any number of rows for single channels of bytes, because their
  // kernels compute one pixel after the other.
  if (isa<cpu::DepthwiseConvOp>(op) &&
      (product == Product::int8Dot || product == Product::int8Wide))
    return success();
  if (usesTiles(product)) {
    // Allows two times two accumulators, because there are eight tile
    // registers.
    if (vectors <= 2)
      return success();
    return op->emitOpError("expects a tile of at most ")
           << 2 * target.lanes << " columns with AMX, but got "
           << tile.getColumns();
  }
  auto packed = dyn_cast<cpu::PackedMatMulOp>(op);
  int64_t used =
      registersOf({tile.getRows(), vectors, product, /*amxRows=*/0,
                   isWinograd(op), packed && packed.hasRoundedSrc()});
  if (used <= target.numRegisters)
    return success();
  return op->emitOpError("expects a tile for the ")
         << target.numRegisters << " registers of " << level << ", but got "
         << tile.getRows() << "x" << tile.getColumns() << ", which takes "
         << used;
}

LogicalResult cpu::checkSchedule(cpu::ScheduledOpInterface op) {
  cpu::ScheduleAttr schedule = op.getScheduleAttr();
  if (!schedule)
    return op->emitOpError("has no schedule: cpu-schedule sets it");
  // Accepts any tile of a group norm, because its groups are on the stack and
  // not in registers.
  if (isa<cpu::GroupNormOp>(*op))
    return success();
  for (cpu::TileAttr tile : {schedule.getTile(), schedule.getScores()})
    if (tile && failed(checkTile(op, tile)))
      return failure();
  TargetInfo target = TargetInfo::of(op);
  cpu::TileAttr tile = schedule.getTile();
  if (auto depthwise = dyn_cast<cpu::DepthwiseConvOp>(*op)) {
    int64_t columns = depthwiseColumns(depthwise, target, tile.getProduct());
    if (tile.getColumns() != columns)
      return op->emitOpError("expects a tile of ")
             << columns << " channels, but got " << tile.getColumns();
  }
  auto conv = dyn_cast<cpu::ConvOp>(*op);
  if (conv && usesTiles(tile.getProduct()) && !schedule.getAcrossRows() &&
      !fitsCopy(conv, target, tile.getRows()))
    return op->emitOpError(
               "expects tiles whose pixels can be copied with their "
               "padding, but got ")
           << tile.getRows() << " rows, which the first-level cache of "
           << target.l1 << " bytes does not hold";
  return success();
}
