//===- DrawSchedule.cpp - schedules at random -----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Draws schedules at random for tests. Every schedule that fits an op and its
// target must give correct results. The drawn schedules cover all that the
// verifiers accept: tiles of any height, tasks of any size, and every kind of
// product.
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/PackedWeights.h"
#include "dialects/cpu/Winograd.h"
#include "passes/cpu/schedule/ChooseSchedule.h"
#include "passes/support/Shapes.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <random>

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;
using support::shapeOf;

namespace {

struct Drawer {
  Drawer(Operation *op, uint64_t seed)
      : target(TargetInfo::of(op)), builder(op), random(seed) {}

  /// Returns a number in [low, high].
  int64_t in(int64_t low, int64_t high) {
    return low + int64_t(random() % uint64_t(high - low + 1));
  }
  bool toss() { return in(0, 1) != 0; }
  int64_t oneOf(ArrayRef<int64_t> values) {
    return values[in(0, int64_t(values.size()) - 1)];
  }

  /// Returns a tile that stays in registers. Its number of vectors divides
  /// `most`.
  RegisterTile tile(Product product, int64_t most, bool hasBlocks = false);
  RegisterTile amxTile(Product product, int64_t vectors, int64_t mostRows);
  template <typename Op> Product vectorProduct(Op op);
  /// Returns a grid for `rows` rows, which may be dynamic, in multiples of
  /// `rowUnit`.
  Grid grid(int64_t rows, int64_t rowUnit, int64_t tiles);
  /// Draws the limits that apply when a run determines the number of rows.
  void drawBlocks(Grid &grid, bool mayBeWhole);

  cpu::ScheduleAttr draw(cpu::ConvOp op);
  /// Returns null if there are too many channels for even one tile.
  cpu::ScheduleAttr drawWinograd(cpu::ConvOp op);
  cpu::ScheduleAttr draw(cpu::DepthwiseConvOp op);
  cpu::ScheduleAttr draw(cpu::MatMulOp op);
  cpu::ScheduleAttr draw(cpu::WinogradConvOp op);
  cpu::ScheduleAttr draw(cpu::PackedMatMulOp op);
  cpu::ScheduleAttr draw(cpu::AttentionOp op);
  cpu::ScheduleAttr draw(cpu::RecurrentOp op);
  cpu::ScheduleAttr draw(cpu::ReduceOp op);
  cpu::ScheduleAttr draw(cpu::PoolOp op);
  cpu::ScheduleAttr draw(cpu::GroupNormOp op);
  cpu::ScheduleAttr drawRows(Value src);

  TargetInfo target;
  ScheduleBuilder builder;
  std::mt19937_64 random;
};

} // namespace

RegisterTile Drawer::tile(Product product, int64_t most, bool hasBlocks) {
  auto fits = [&](int64_t rows, int64_t vectors) {
    return registersOf({rows, vectors, product, /*amxRows=*/0,
                        /*hasInt16Weights=*/false, hasBlocks}) <=
           target.numRegisters;
  };
  SmallVector<int64_t> counts;
  for (int64_t vectors = 1; vectors <= most; ++vectors)
    if (most % vectors == 0 && fits(1, vectors))
      counts.push_back(vectors);
  int64_t vectors = oneOf(counts), rows = 1;
  while (fits(rows + 1, vectors))
    ++rows;
  return {in(1, rows), vectors, product};
}

/// Returns a tile with at least one AMX tile for `mostRows` rows.
RegisterTile Drawer::amxTile(Product product, int64_t vectors,
                             int64_t mostRows) {
  int64_t amxRows = in(1, std::min<int64_t>(mostRows, 16));
  return {in(amxRows, 2 * amxRows), in(1, vectors), product, amxRows};
}

/// Returns one of the target's vector products for the weights.
template <typename Op> Product Drawer::vectorProduct(Op op) {
  cpu::PackedWeights weights(op.getWeights());
  SmallVector<int64_t> possible;
  for (const ProductInfo &info : getProducts())
    if (!info.usesTiles() && info.isSupported(target) &&
        info.multiplies(weights.element, weights.group) &&
        (info.columns != ColumnForm::byLists || op.getFormat().getPairs()))
      possible.push_back(int64_t(info.product));
  // The verifier reports other weights.
  if (possible.empty())
    return productFor(target, weights.element, weights.group);
  return Product(oneOf(possible));
}

Grid Drawer::grid(int64_t rows, int64_t rowUnit, int64_t tiles) {
  if (ShapedType::isDynamic(rows))
    rows = 64;
  int64_t units = llvm::divideCeil(rows, rowUnit);
  Grid grid{in(1, units + 1) * rowUnit, in(1, tiles + 1), toss()};
  // Sometimes lets one task, or two, take all rows.
  if (in(0, 3) == 0)
    grid.rowsPerTask = std::max<int64_t>(units, 1) * rowUnit;
  grid.prefetch = toss();
  return grid;
}

void Drawer::drawBlocks(Grid &grid, bool mayBeWhole) {
  grid.rowBlocks = in(0, 4);
  if (mayBeWhole && grid.rowBlocks != 0 && toss())
    grid.wholeFrom = in(1, 100);
}

cpu::ScheduleAttr Drawer::drawWinograd(cpu::ConvOp op) {
  cpu::PackedWeights weights(op.getWeights());
  ArrayRef<int64_t> dst = shapeOf(op.getDst());
  int64_t outputs = op.getFormat().getExactTiles() == 4 && toss() ? 4 : 2;
  auto transform = cpu::Winograd::ofBytes(outputs);
  // Draws a tile of f32. With int16, registers hold as many sums.
  RegisterTile chosen = tile(Product::f32, weights.width / target.lanes);
  chosen.product = Product::int8Wide;
  int64_t columns = chosen.vectors * target.lanes;
  int64_t most =
      cpu::kMaxWinogradBytes / transform.bytes(weights.depth, columns);
  if (most == 0)
    return {};
  chosen.rows = std::min<int64_t>(chosen.rows, most);
  Grid split = grid(support::productOf(dst.drop_back()), chosen.rows,
                    llvm::divideCeil(dst.back(), columns));
  split.prefetch = false;
  if (ShapedType::isDynamicShape(dst))
    drawBlocks(split, /*mayBeWhole=*/true);
  int64_t mostGroups =
      cpu::kMaxWinogradWeightBytes / transform.weightBytes(columns);
  return builder.tile(chosen)
      .grid(split)
      .tileBlock(in(1, most / chosen.rows))
      .depthBlock(in(1, mostGroups))
      .winograd(outputs);
}

cpu::ScheduleAttr Drawer::draw(cpu::ConvOp op) {
  if (op.getFormat().getExactTiles() != 0 && toss())
    if (cpu::ScheduleAttr filtering = drawWinograd(op))
      return filtering;
  cpu::PackedWeights weights(op.getWeights());
  ArrayRef<int64_t> dst = shapeOf(op.getDst());
  int64_t pixels = dst[dst.size() - 2], groups = op.getGroups();
  int64_t most = weights.width / target.lanes;
  bool acrossRows = ShapedType::isDynamic(pixels) ||
                    (!op.getFormat().isSigns() && in(0, 3) == 0);
  if (acrossRows)
    pixels = 16;
  RegisterTile chosen = tile(vectorProduct(op), most);
  std::optional<Product> tiles = tilesFor(target, weights.element);
  if (tiles && pixels > 0 && toss()) {
    RegisterTile amx = amxTile(*tiles, std::min<int64_t>(most, 2), pixels);
    int64_t smallest = pixels / int64_t(llvm::divideCeil(pixels, amx.rows));
    if (acrossRows ||
        (smallest >= amx.amxRows && fitsCopy(op, target, amx.rows)))
      chosen = amx;
  }
  int64_t columns = chosen.vectors * target.lanes;
  Grid split = grid(support::productOf(dst.drop_back(acrossRows ? 1 : 2)),
                    acrossRows ? chosen.rows : 1,
                    llvm::divideCeil(op.dstChannels() / groups, columns));
  split = withWholeWords(op, columns, split);
  if (groups > 1)
    split.columnTilesPerTask = 1;
  if (acrossRows) {
    drawBlocks(split, /*mayBeWhole=*/groups == 1);
    return builder.tile(chosen).grid(split).acrossRows(true);
  }
  int64_t depthBlock = 0;
  // Partial sums take four bytes each.
  int64_t mostRows = (64 << 10) / std::max<int64_t>(4 * pixels * columns, 1);
  if (cpu::canWait(chosen.product) && mostRows >= 1 && toss()) {
    split.rowsPerTask = std::min(split.rowsPerTask, mostRows);
    depthBlock = in(1, 160);
  }
  return builder.tile(chosen).grid(split).depthBlock(depthBlock);
}

cpu::ScheduleAttr Drawer::draw(cpu::DepthwiseConvOp op) {
  ArrayRef<int64_t> dst = shapeOf(op.getDst());
  RegisterTile chosen = tile(Product::f32, 1);
  if (canGroupFour(op, target) && toss())
    chosen.product = Product::int8Dot;
  else if (canPairInt16(op, target) && toss())
    chosen.product = Product::int8Wide;
  if (chosen.product != Product::f32)
    chosen.vectors =
        depthwiseColumns(op, target, chosen.product) / target.lanes;
  int64_t tiles =
      llvm::divideCeil(dst.back(), chosen.vectors * target.lanes);
  Grid split = grid(support::productOf(dst.drop_back(2)), 1, tiles);
  split.prefetch = false;
  return builder.tile(chosen)
      .grid(split)
      .tileBlock(in(0, tiles));
}

cpu::ScheduleAttr Drawer::draw(cpu::MatMulOp op) {
  cpu::PackedWeights weights(op.getWeights());
  ArrayRef<int64_t> dst = shapeOf(op.getDst());
  int64_t rows = dst[dst.size() - 2], most = weights.width / target.lanes;
  RegisterTile chosen = tile(vectorProduct(op), most);
  std::optional<Product> tiles = tilesFor(target, weights.element);
  int64_t mostRows = ShapedType::isDynamic(rows) ? 16 : rows;
  if (tiles && !op.getFormat().isBlocks() && mostRows > 0 && toss())
    chosen = amxTile(*tiles, std::min<int64_t>(most, 2), mostRows);
  int64_t columns = chosen.vectors * target.lanes;
  Grid split = grid(rows, chosen.rows,
                    llvm::divideCeil(op.dstChannels(), columns));
  split = withWholeWords(op, columns, split);
  if (op.getFormat().isBlocks()) {
    split.prefetch = false;
    return builder.tile(chosen).grid(split);
  }
  // Up to 64 KiB of partial sums may be kept, with four bytes each.
  bool waits = cpu::canWait(chosen.product) && !ShapedType::isDynamic(rows) &&
               split.rowsPerTask * columns * 4 <= (64 << 10) && toss();
  if (ShapedType::isDynamic(rows))
    drawBlocks(split, /*mayBeWhole=*/true);
  return builder.tile(chosen).grid(split).depthBlock(waits ? in(1, 160) : 0);
}

cpu::ScheduleAttr Drawer::draw(cpu::WinogradConvOp op) {
  cpu::PackedWeights weights(op.getWeights());
  ArrayRef<int64_t> dst = shapeOf(op.getDst());
  RegisterTile chosen = tile(Product::f32, weights.width / target.lanes);
  int64_t columns = chosen.vectors * target.lanes;
  int64_t most =
      cpu::kMaxWinogradBytes /
      cpu::Winograd(op.getFormat().getOutputs()).bytes(weights.depth, columns);
  chosen.rows = std::clamp<int64_t>(chosen.rows, 1, most);
  Grid split = grid(support::productOf(dst.drop_back()), chosen.rows,
                    llvm::divideCeil(dst.back(), columns));
  split.prefetch = false;
  if (ShapedType::isDynamicShape(dst))
    drawBlocks(split, /*mayBeWhole=*/true);
  return builder.tile(chosen).grid(split).tileBlock(
      in(1, most / chosen.rows));
}

cpu::ScheduleAttr Drawer::draw(cpu::PackedMatMulOp op) {
  ArrayRef<int64_t> dst = shapeOf(op.getDst());
  Product product = packedProduct(op, target);
  if (product == Product::int8Dot && op.getFormat().getBits() < 8 && toss())
    product = Product::int8Pairs;
  RegisterTile chosen =
      tile(product, op.panel() / target.lanes, op.hasRoundedSrc());
  int64_t columns = chosen.vectors * target.lanes;
  Grid split = grid(dst[dst.size() - 2], chosen.rows,
                    llvm::divideCeil(dst.back(), columns));
  // Up to 64 KiB of partial sums may be kept.
  int64_t most = (64 << 10) / (4 * columns * chosen.rows) * chosen.rows;
  split.rowsPerTask = std::min(split.rowsPerTask, most);
  split.prefetch = false;
  return builder.tile(chosen).grid(split);
}

cpu::ScheduleAttr Drawer::draw(cpu::AttentionOp op) {
  Product product = attentionProduct(op, target);
  if (usesTiles(product))
    return chooseSchedule(op);
  // Limits a task to 32 queries.
  RegisterTile scores = tile(product, std::min<int64_t>(32 / target.lanes, 4));
  return builder.tile(tile(product, 4)).scores(scores);
}

cpu::ScheduleAttr Drawer::draw(cpu::RecurrentOp op) {
  int64_t width = 64;
  for (Value weights : op.getWeights())
    width = std::min(width, cpu::PackedWeights(weights).width);
  RegisterTile chosen = tile(Product::f32, width / target.lanes);
  Grid split = grid(shapeOf(op.state(0, 0))[0], 1, 1);
  split.columnTilesPerTask = 1;
  split.prefetch = false;
  return builder.tile(chosen).grid(split);
}

cpu::ScheduleAttr Drawer::draw(cpu::ReduceOp op) {
  if (op.reducesRows())
    return drawRows(op.getDst());
  ArrayRef<int64_t> dst = shapeOf(op.getDst());
  RegisterTile chosen = tile(Product::f32, 4);
  if (ShapedType::isDynamic(dst[1])) {
    Grid split = grid(dst[1], 1, 1);
    split.columnTilesPerTask = 1;
    split.prefetch = false;
    return builder.tile(chosen).grid(split);
  }
  Grid split = grid(dst[0], 1,
                    llvm::divideCeil(dst[1], chosen.vectors * target.lanes));
  split.prefetch = false;
  return builder.tile(chosen).grid(split);
}

cpu::ScheduleAttr Drawer::draw(cpu::PoolOp op) {
  ArrayRef<int64_t> dst = shapeOf(op.getDst());
  RegisterTile chosen = tile(Product::f32, 4);
  chosen.rows = 1;
  Grid split =
      grid(support::productOf(dst.drop_back(2)), 1,
           llvm::divideCeil(dst.back(), chosen.vectors * target.lanes));
  split.prefetch = false;
  return builder.tile(chosen).grid(split);
}

cpu::ScheduleAttr Drawer::draw(cpu::GroupNormOp op) {
  int64_t groups = op.getGroups();
  int64_t perGroup = shapeOf(op.getSrc())[2] / groups;
  int64_t perTile = in(1, groups);
  return builder.wholeGroups(perTile * perGroup)
      .grid({1, in(1, int64_t(llvm::divideCeil(groups, perTile)) + 1), toss()});
}

cpu::ScheduleAttr Drawer::drawRows(Value src) {
  Grid split = grid(support::productOf(shapeOf(src).drop_back()), 1, 1);
  split.columnTilesPerTask = 1;
  split.prefetch = false;
  return builder.grid(split);
}

cpu::ScheduleAttr cpu::drawSchedule(cpu::ScheduledOpInterface op,
                                    uint64_t seed) {
  Drawer drawer(op, seed);
  return TypeSwitch<Operation *, cpu::ScheduleAttr>(op)
      .Case<cpu::BandMatMulOp, cpu::ResampleOp>(
          [&](auto kernel) { return drawer.drawRows(kernel.getDst()); })
      .Case<cpu::PackSignsOp, cpu::RoundBlocksOp, cpu::RowNormOp,
            cpu::SoftmaxOp>(
          [&](auto kernel) { return drawer.drawRows(kernel.getSrc()); })
      .Case<cpu::AttentionOp, cpu::ConvOp, cpu::DepthwiseConvOp,
            cpu::GroupNormOp, cpu::MatMulOp, cpu::PackedMatMulOp, cpu::PoolOp,
            cpu::RecurrentOp, cpu::ReduceOp, cpu::WinogradConvOp>(
          [&](auto kernel) { return drawer.draw(kernel); });
}
