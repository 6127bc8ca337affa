//===- ChooseWinograd.cpp - schedules of minimal filtering ----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/PackedWeights.h"
#include "dialects/cpu/Winograd.h"
#include "passes/cpu/policy/WinogradCost.h"
#include "passes/cpu/schedule/ChooseSchedule.h"
#include "passes/support/Shapes.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;
using support::shapeOf;

/// Columns for which pixels are worth transforming once more.
static constexpr int64_t kWinogradColumns = 128;

/// Returns how many tiles of m x m pixels dst, of rank 4, has: at least one.
static int64_t countTiles(ArrayRef<int64_t> dst, int64_t m) {
  return std::max<int64_t>(WinogradSizes::ofResult(dst, 0).tiles(m), 1);
}

// Weights, which are larger than those of the convolution or are transformed in
// the run, are read for each block of tiles: so blocks are as large as the
// stack allows, and columns are only split where there are few blocks and many
// columns.
static ScheduleBuilder splitTiles(Operation *op, Value to, RegisterTile tile,
                                  const cpu::Winograd &transform,
                                  int64_t channels) {
  TargetInfo target = TargetInfo::of(op);
  ArrayRef<int64_t> dst = shapeOf(to);
  int64_t columns = tile.vectors * target.lanes;
  int64_t mostRows =
      cpu::kMaxWinogradBytes / transform.bytes(channels, columns);
  bool isOpen = ShapedType::isDynamicShape(dst.drop_back());
  int64_t rows = countTiles(dst, transform.outputs());
  tile.rows = std::clamp<int64_t>(mostRows, 1, tile.rows);
  if (!isOpen)
    tile.rows = evenTile(rows, tile.rows);
  int64_t units = llvm::divideCeil(rows, tile.rows);
  int64_t block = std::max<int64_t>(mostRows / tile.rows, 1);
  int64_t flops = 2 * transform.positions() * channels * dst.back();
  int64_t tasks = std::clamp<int64_t>(rows * flops / target.task_flops, 1,
                                      target.most_tasks);
  int64_t blocks =
      std::min<int64_t>(llvm::divideCeil(units, block), tasks);
  // As many blocks for one thread as for the other.
  if (blocks > 1)
    blocks = std::min<int64_t>(llvm::alignTo(blocks, 2), units);
  int64_t perTask = llvm::divideCeil(units, blocks);
  int64_t tiles = llvm::divideCeil(dst.back(), columns);
  int64_t columnBlocks = std::clamp<int64_t>(
      std::min<int64_t>(dst.back() / kWinogradColumns, tasks / blocks), 1,
      tiles);
  Grid grid{perTask * tile.rows, int64_t(llvm::divideCeil(tiles, columnBlocks)),
            /*rowsOutside=*/true};
  grid.rowBlocks = isOpen ? target.most_tasks : 0;
  return ScheduleBuilder(op).tile(tile).grid(grid).tileBlock(
      std::min(block, perTask));
}

cpu::ScheduleAttr cpu::chooseSchedule(cpu::WinogradConvOp op) {
  TargetInfo target = TargetInfo::of(op);
  cpu::PackedWeights weights(op.getWeights());
  RegisterTile tile = chooseTile(target, productFor(target, weights.element),
                                 weights.width);
  return splitTiles(op, op.getDst(), tile,
                    cpu::Winograd::ofPositions(weights.outer[1]),
                    weights.depth);
}

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

/// The rows of a register tile, at most `most`, that waste least on tiles
/// beyond `rows`, and on loading weights for each tile.
static int64_t rowsOfTile(int64_t rows, int64_t most) {
  constexpr double kLoads = 0.7;
  auto cost = [&](int64_t height) {
    return double(llvm::divideCeil(rows, height)) * (double(height) + kLoads);
  };
  int64_t best = most;
  for (int64_t height = 1; height < most; ++height)
    if (cost(height) < cost(best))
      best = height;
  return best;
}

cpu::ScheduleAttr cpu::chooseFiltering(cpu::ConvOp op, double direct) {
  TargetInfo target = TargetInfo::of(op);
  cpu::PackedWeights weights(op.getWeights());
  RegisterTile tile = chooseTile(target, Product::int8Wide, weights.width);
  int64_t columns = tile.vectors * target.lanes;
  WinogradSizes sizes =
      WinogradSizes::ofResult(shapeOf(op.getDst()), weights.depth);
  Answer<std::optional<cpu::Winograd>> answer = cpu::chooseByteTiles(
      sizes, {direct, int64_t(op.getWinograd().value_or(0)), columns}, target);
  recordTiles(op, answer);
  std::optional<cpu::Winograd> best = answer.choice;
  if (!best)
    return {};
  // Words leave as many registers to sums as floats do.
  tile.rows = rowsOfTile(countTiles(shapeOf(op.getDst()), best->outputs()),
                         chooseTile(target, Product::f32, weights.width).rows);
  // Weights of as many channels as there is room for, evenly.
  int64_t most = cpu::kMaxWinogradWeightBytes / best->weightBytes(columns);
  int64_t parts = llvm::divideCeil(weights.depth / 4, most);
  return splitTiles(op, op.getDst(), tile, *best, weights.depth)
      .depthBlock(llvm::divideCeil(weights.depth / 4, parts))
      .winograd(best->outputs());
}
