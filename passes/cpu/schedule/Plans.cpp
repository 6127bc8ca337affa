//===- Plans.cpp - schedules as code generation reads them ----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/schedule/Plans.h"

#include "passes/support/Shapes.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;
using support::shapeOf;

static cpu::ScheduleAttr scheduleOf(cpu::ScheduledOpInterface op) {
  cpu::ScheduleAttr schedule = op.getScheduleAttr();
  assert(schedule && "checkSchedule comes first");
  return schedule;
}

static Value destinationOf(Operation *op) {
  return cast<DestinationStyleOpInterface>(op).getDpsInits()[0];
}

/// Returns the tile in vectors of the target.
static RegisterTile inVectors(cpu::TileAttr tile, const TargetInfo &target) {
  return {tile.getRows(),
          int64_t(llvm::divideCeil(tile.getColumns(), target.lanes)),
          tile.getProduct(), tile.getAmxRows()};
}

static int64_t columnsOf(cpu::ScheduledOpInterface op) {
  if (auto conv = dyn_cast<cpu::ConvOp>(*op))
    return conv.dstChannels();
  if (auto product = dyn_cast<cpu::MatMulOp>(*op))
    return product.dstChannels();
  ArrayRef<int64_t> dst = shapeOf(destinationOf(op));
  return dst.empty() ? 1 : dst.back();
}

/// Returns the number of column tiles of the result of `op`. Returns 1 if the
/// schedule has no tile, or if only a run knows the number.
static int64_t countColumnTiles(cpu::ScheduledOpInterface op,
                                int64_t columns) {
  cpu::TileAttr tile = scheduleOf(op).getTile();
  if (!tile || ShapedType::isDynamic(columns))
    return 1;
  int64_t groups = 1;
  if (auto conv = dyn_cast<cpu::ConvOp>(*op))
    groups = conv.getGroups();
  return groups *
         int64_t(llvm::divideCeil(columns / groups, tile.getColumns()));
}

Plan::Plan(cpu::ScheduledOpInterface op)
    : target(TargetInfo::of(op)), tile{1, 1}, grid{1, 1, false},
      columns(columnsOf(op)), tiles(countColumnTiles(op, columns)) {
  cpu::ScheduleAttr schedule = scheduleOf(op);
  if (cpu::TileAttr given = schedule.getTile())
    tile = inVectors(given, target);
  if (cpu::GridAttr given = schedule.getGrid())
    grid = {given.getRows(), given.getTiles(), given.getRowsOutside(),
            schedule.getPrefetch(), given.getRowBlocks(),
            given.getWholeFrom()};
}

ConvPlan::ConvPlan(cpu::ConvOp op)
    : Plan(op), weights(op.getWeights()), panel(weights.width),
      groups(op.getGroups()), tilesPerGroup(tiles / groups),
      tilesPerPanel(panel / (tile.vectors * target.lanes)),
      depthBlock(op.getScheduleAttr().getDepthBlock()),
      acrossRows(op.getScheduleAttr().getAcrossRows()) {}

WinogradPlan::WinogradPlan(cpu::ScheduledOpInterface op, Value weights,
                           const cpu::Winograd &transform)
    : Plan(op), weights(weights), transform(transform),
      panel(this->weights.width),
      tilesPerPanel(panel / (tile.vectors * target.lanes)),
      blockRows(op.getScheduleAttr().getTileBlock() * tile.rows) {}

WinogradPlan::WinogradPlan(cpu::WinogradConvOp op)
    : WinogradPlan(op, op.getWeights(),
                   cpu::Winograd(op.getFormat().getOutputs())) {}

WinogradPlan::WinogradPlan(cpu::ConvOp op)
    : WinogradPlan(
          op, op.getWeights(),
          cpu::Winograd::ofBytes(op.getScheduleAttr().getWinograd())) {
  depthBlock = op.getScheduleAttr().getDepthBlock();
}

MatMulPlan::MatMulPlan(cpu::MatMulOp op)
    : Plan(op), weights(op.getWeights()), panel(weights.width),
      tilesPerPanel(panel / (tile.vectors * target.lanes)),
      rows(*std::next(shapeOf(op.getDst()).rbegin())),
      depthBlock(op.getScheduleAttr().getDepthBlock()) {}

PackedMatMulPlan::PackedMatMulPlan(cpu::PackedMatMulOp op)
    : Plan(op), panel(op.panel()),
      tilesPerPanel(panel / (tile.vectors * target.lanes)),
      rows(*std::next(shapeOf(op.getDst()).rbegin())) {}

DepthwisePlan::DepthwisePlan(cpu::DepthwiseConvOp op)
    : Plan(op), tilesPerBlock(op.getScheduleAttr().getTileBlock()) {
  if (tilesPerBlock == 0)
    tilesPerBlock = tiles;
}

/// The number of keys of a block. The scores of 32 queries then take 16 KiB.
static constexpr int64_t kKeysOfBlock = 128;

AttentionPlan::AttentionPlan(cpu::AttentionOp op)
    : Plan(op), scores(inVectors(op.getScheduleAttr().getScores(), target)),
      queriesPerTask(op.getScheduleAttr().getScores().getColumns()),
      isNarrow(!op.getBytes() && scores.product != Product::f32),
      byBlocks(isNarrow || ShapedType::isDynamic(shapeOf(op.getSrc())[1]) ||
               ShapedType::isDynamic(shapeOf(op.getKeys())[1]) ||
               shapeOf(op.getKeys())[1] > cpu::kMostKeysAtOnce),
      keysAtOnce(byBlocks ? kKeysOfBlock : shapeOf(op.getKeys())[1]) {}

RecurrentPlan::RecurrentPlan(cpu::RecurrentOp op)
    : Plan(op), hidden(op.hidden()) {}

ColumnPlan::ColumnPlan(cpu::ScheduledOpInterface op)
    : Plan(op), channelsPerTile(op.getScheduleAttr().getTile().getColumns()) {}
