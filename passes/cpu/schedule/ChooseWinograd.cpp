//===- ChooseWinograd.cpp - schedules of Winograd's algorithm -------------===//
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

/// The minimum number of columns for which it pays to transform the pixels
/// again.
static constexpr int64_t kWinogradColumns = 128;

// Each block of tiles reads all weights. They are larger than those of the
// direct convolution, or transformed at run time. Blocks are therefore as large
// as the stack allows. Columns are split only if there are few blocks and many
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
  int64_t rows =
      WinogradSizes::ofResult(dst, channels).tiles(transform.outputs());
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
  // Makes the number of blocks even, so that two threads get equal numbers of
  // blocks.
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
                    cpu::Winograd(op.getFormat().getOutputs()), weights.depth);
}

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

/// Returns the number of rows of a register tile, at most `most`. It minimizes
/// the waste on tiles beyond `rows` and on loading weights for each tile.
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

cpu::ScheduleAttr cpu::chooseWinograd(cpu::ConvOp op, double direct) {
  // Declines, because no tiles are proved to be exact.
  if (op.getFormat().getExactTiles() == 0)
    return {};
  TargetInfo target = TargetInfo::of(op);
  cpu::PackedWeights weights(op.getWeights());
  RegisterTile tile = chooseTile(target, Product::int8Wide, weights.width);
  int64_t columns = tile.vectors * target.lanes;
  WinogradSizes sizes =
      WinogradSizes::ofResult(shapeOf(op.getDst()), weights.depth);
  Answer<std::optional<cpu::Winograd>> answer = cpu::chooseByteTiles(
      sizes, {direct, op.getFormat().getExactTiles(), columns}, target);
  recordTiles(op, answer);
  std::optional<cpu::Winograd> best = answer.choice;
  if (!best)
    return {};
  // Uses the number of rows of a tile of f32. With int16, registers hold as
  // many sums.
  tile.rows = rowsOfTile(sizes.tiles(best->outputs()),
                         chooseTile(target, Product::f32, weights.width).rows);
  // Splits the channels evenly into the fewest parts whose weights fit.
  int64_t most = cpu::kMaxWinogradWeightBytes / best->weightBytes(columns);
  int64_t parts = llvm::divideCeil(weights.depth / 4, most);
  return splitTiles(op, op.getDst(), tile, *best, weights.depth)
      .depthBlock(llvm::divideCeil(weights.depth / 4, parts))
      .winograd(best->outputs());
}
