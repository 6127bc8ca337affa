//===- Kernels.cpp - what the schedules of kernels share ------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/codegen/cpu/product/Kernels.h"
#include "passes/codegen/cpu/rows/Rows.h"
#include "passes/support/Shapes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::codegen;
using lower::shapeOf;

static int64_t bytesOf(Value value) {
  auto type = cast<ShapedType>(value.getType());
  int64_t elements = lower::productOf(type.getShape());
  return ShapedType::isDynamic(elements)
             ? 1 << 20
             : elements * type.getElementTypeBitWidth() / 8;
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

/// Operations of vectors that take as long as `flops` with this tile.
static int64_t costOf(int64_t flops, const RegisterTile &tile) {
  return usesTiles(tile.product) ? flops / kAmxSpeed : flops;
}

static RegisterTile chooseConvTile(cpu::ConvOp op, const ConvPlan &plan) {
  ArrayRef<int64_t> dst = shapeOf(op.getDst());
  ArrayRef<int64_t> kernel = plan.weights.outer.drop_front();
  int64_t channels = shapeOf(op.getSrc()).back() / plan.groups;
  int64_t pixels = dst[dst.size() - 2];
  RegisterTile tile =
      chooseTile(plan.unit, {plan.weights.element, plan.panel, pixels, channels,
                             lower::productOf(kernel)});
  if (!usesTiles(tile.product))
    return tile;
  // Tiles with padding are copied whole.
  int64_t span = (tile.rows - 1) * op.getStrides().back() +
                 (kernel.back() - 1) * op.getDilations().back() + 1;
  ArrayRef<int64_t> pads = op.getPads();
  bool isPadded = pads[kernel.size() - 1] > 0 || pads.back() > 0;
  // What a tile copies of src is read line after line: a third of it may come
  // from the second-level cache.
  int64_t maxCopiedBytes = plan.unit.l1Bytes * 3 / 2;
  bool fits = span * channels * plan.weights.element.getIntOrFloatBitWidth() <=
              8 * maxCopiedBytes;
  return !isPadded || fits
             ? tile
             : chooseTile(plan.unit, productFor(plan.unit, plan.weights.element),
                          plan.panel);
}

ConvPlan::ConvPlan(cpu::ConvOp op)
    : unit(vectorUnitOf(op)), weights(op.getWeights()) {
  ArrayRef<int64_t> dst = shapeOf(op.getDst());
  panel = weights.width;
  groups = op.getGroups();
  tile = chooseConvTile(op, *this);
  int64_t columns = tile.vectors * unit.lanes;
  tilesPerPanel = panel / columns;
  tilesPerGroup = llvm::divideCeil(dst.back() / groups, columns);
  rows = lower::productOf(dst.drop_back(2));
  int64_t flops = 2 * lower::productOf(weights.outer.drop_front()) *
                  weights.depth * dst.back() * dst[dst.size() - 2];
  grid = chooseGrid(unit, {rows, columnTiles(), costOf(flops, tile), 1,
                     bytesOf(op.getSrc()), bytesOf(op.getWeights())});
  // A task's tiles are of one group.
  if (groups > 1)
    grid.columnTilesPerTask = 1;
}

MatMulPlan::MatMulPlan(cpu::MatMulOp op)
    : unit(vectorUnitOf(op)), weights(op.getWeights()) {
  ArrayRef<int64_t> dst = shapeOf(op.getDst());
  panel = weights.width;
  rows = dst[dst.size() - 2];
  tile = chooseTile(unit, {weights.element, panel, rows,
                           shapeOf(op.getSrc()).back(), 1});
  int64_t columns = tile.vectors * unit.lanes;
  tilesPerPanel = panel / columns;
  tiles = llvm::divideCeil(dst.back(), columns);
  if (!ShapedType::isDynamic(rows))
    tile.rows = evenTile(rows, tile.rows);
  int64_t batches = lower::productOf(dst.drop_back(2));
  if (ShapedType::isDynamic(batches))
    batches = 8;
  int64_t flops = 2 * weights.depth * dst.back();
  grid = chooseGrid(unit, {rows, tiles, costOf(flops, tile), tile.rows,
                     bytesOf(op.getSrc()), bytesOf(op.getWeights())});
  // Blocks of columns are tasks enough: each reads its weights once.
  constexpr int64_t kEnoughTasks = 16;
  if (!grid.rowsOutside && columnBlocks() >= kEnoughTasks &&
      !ShapedType::isDynamic(rows))
    grid.rowsPerTask = llvm::alignTo(rows, tile.rows);
  // Products of many matrices are tasks of their own.
  if (batches >= 8)
    grid = {ShapedType::isDynamic(rows)
                ? 16 * tile.rows
                : int64_t(llvm::alignTo(rows, tile.rows)),
            tiles, true};
}

/// Lines of a pixel that are worth taking at a time.
static constexpr int64_t kMinPixelBytes = 128, kMaxPixelBytes = 256;

/// The vectors of channels of which all rows that an output row reads stay in the
/// first-level cache until the next one reads them again; all if they do as they
/// are, or if too little of each pixel would.
static int64_t depthwiseBlock(cpu::DepthwiseConvOp op, const VectorUnit &unit,
                              int64_t tiles) {
  auto type = cast<ShapedType>(op.getSrc().getType());
  ArrayRef<int64_t> src = type.getShape();
  int64_t elementBytes = type.getElementTypeBitWidth() / 8;
  int64_t pixels = src[src.size() - 2] *
                   lower::productOf(shapeOf(op.getWeights()).drop_back(2));
  // The rows of src that output rows share may take the whole cache, and a block
  // of channels half of it.
  int64_t bytes = std::min(unit.l1Bytes / 2 / pixels, kMaxPixelBytes);
  if (pixels * src.back() * elementBytes <= unit.l1Bytes ||
      bytes < kMinPixelBytes)
    return tiles;
  return std::min(tiles, bytes / (unit.lanes * elementBytes));
}

DepthwisePlan::DepthwisePlan(cpu::DepthwiseConvOp op) : unit(vectorUnitOf(op)) {
  ArrayRef<int64_t> weights = shapeOf(op.getWeights());
  ArrayRef<int64_t> dst = shapeOf(op.getDst());
  // Each tap loads a vector of weights once for all pixels of the tile.
  tile = {unit.numRegisters == 32 ? 8 : 4, 1};
  tiles = llvm::divideCeil(dst.back(), unit.lanes);
  tilesPerBlock = depthwiseBlock(op, unit, tiles);
  rows = lower::productOf(dst.drop_back(2));
  int64_t flops = 2 * lower::productOf(weights.drop_back()) * dst.back() *
                  dst[dst.size() - 2];
  // By rows: channels of a pixel lie together.
  grid = chooseGrid(unit, {rows, 1, flops, 1, bytesOf(op.getSrc()), 0});
  grid.columnTilesPerTask = tiles;
}

// Scores have queries in lanes: keys are then read as rows, one element a
// multiply-add, probabilities are read the same way and values as vectors, so
// that of all operands only queries are transposed, and a softmax goes over whole
// vectors. Two vectors of queries, as products have two vectors of columns.
AttentionPlan::AttentionPlan(cpu::AttentionOp op) : unit(vectorUnitOf(op)) {
  queries = shapeOf(op.getSrc())[1];
  int64_t keys = shapeOf(op.getKeys())[1], width = shapeOf(op.getDst())[3];
  scores = chooseTile(unit, Product::f32, 2 * unit.lanes);
  scores.rows = evenTile(keys, scores.rows);
  queriesPerTask = scores.vectors * unit.lanes;
  result = chooseTile(unit, Product::f32, width);
  result.rows = evenTile(std::min(queries, queriesPerTask), result.rows);
}

int64_t AttentionPlan::blocks() const {
  return llvm::divideCeil(queries, queriesPerTask);
}

template <typename Plan> static int64_t blocksOf(const Plan &plan, int64_t n) {
  return llvm::divideCeil(n, plan.grid.columnTilesPerTask);
}

int64_t ConvPlan::columnBlocks() const { return blocksOf(*this, columnTiles()); }
int64_t MatMulPlan::columnBlocks() const { return blocksOf(*this, tiles); }
int64_t DepthwisePlan::columnBlocks() const { return blocksOf(*this, tiles); }

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

static Index blocksOfRows(IndexBuilder &b, Index rows, int64_t rowsPerTask) {
  return b.div(b.add(rows, rowsPerTask - 1), rowsPerTask);
}

FailureOr<Value> codegen::taskOf(Operation *op) {
  auto kernel = op->getParentOfType<func::FuncOp>();
  if (op->getNumResults() == 0 && kernel && kernel.getNumArguments() != 0 &&
      kernel.getArguments().back().getType().isIndex())
    return Value(kernel.getArguments().back());
  return op->emitOpError("expects to be in a kernel: outline-kernels makes it");
}

Value codegen::countTasks(OpBuilder &builder, Operation *op) {
  IndexBuilder b{builder, op->getLoc()};
  auto count = [&](auto plan, Value dst, Index rows, Index batches) {
    Index blocks = blocksOfRows(b, rows, plan.grid.rowsPerTask);
    return b.get(b.mul(b.mul(blocks, plan.columnBlocks()), batches));
  };
  return TypeSwitch<Operation *, Value>(op)
      .Case([&](cpu::ConvOp conv) {
        Value dst = conv.getDst();
        return count(ConvPlan(conv), dst,
                     countOf(b, dst, 0, shapeOf(dst).size() - 2), 1);
      })
      .Case([&](cpu::AttentionOp attention) {
        ArrayRef<int64_t> dst = shapeOf(attention.getDst());
        return b.get(dst[0] * dst[2] * AttentionPlan(attention).blocks());
      })
      .Case([&](cpu::DepthwiseConvOp conv) {
        Value dst = conv.getDst();
        return count(DepthwisePlan(conv), dst,
                     countOf(b, dst, 0, shapeOf(dst).size() - 2), 1);
      })
      .Case([&](cpu::MatMulOp product) {
        Value dst = product.getDst();
        int64_t rank = shapeOf(dst).size();
        return count(MatMulPlan(product), dst,
                     countOf(b, dst, rank - 2, rank - 1),
                     countOf(b, dst, 0, rank - 2));
      })
      .Case([&](cpu::ReduceOp reduce) {
        Index rows = countOf(b, reduce.getDst(), 0, 1);
        if (reducesRows(reduce))
          return b.get(
              blocksOfRows(b, rows, RowPlan(reduce).grid.rowsPerTask));
        return count(ColumnPlan(reduce), reduce.getDst(), rows, 1);
      })
      .Case<cpu::SoftmaxOp, cpu::RowNormOp>([&](auto row) {
        Value src = row.getSrc();
        Index rows = countOf(b, src, 0, shapeOf(src).size() - 1);
        return b.get(
            blocksOfRows(b, rows, RowPlan(row).grid.rowsPerTask));
      })
      .Case([&](cpu::GroupNormOp norm) {
        Value dst = norm.getDst();
        return count(ColumnPlan(norm), dst, countOf(b, dst, 0, 1), 1);
      })
      .Case([&](cpu::PoolOp pool) {
        Value dst = pool.getDst();
        return count(ColumnPlan(pool), dst,
                     countOf(b, dst, 0, shapeOf(dst).size() - 2), 1);
      });
}

TaskRange codegen::rangeOf(IndexBuilder &b, Value number, const Grid &grid,
                           Index rows, int64_t tiles) {
  Index inner = grid.rowsOutside
                    ? Index(llvm::divideCeil(tiles, grid.columnTilesPerTask))
                    : blocksOfRows(b, rows, grid.rowsPerTask);
  Index row = b.rem(Index(number), inner), column = b.div(Index(number), inner);
  if (grid.rowsOutside)
    std::swap(row, column);
  TaskRange range;
  range.firstRow = b.mul(row, grid.rowsPerTask);
  range.endRow = b.min(b.add(range.firstRow, grid.rowsPerTask), rows);
  range.firstTile = b.mul(column, grid.columnTilesPerTask);
  range.endTile =
      b.min(b.add(range.firstTile, grid.columnTilesPerTask), tiles);
  return range;
}

//===----------------------------------------------------------------------===//
// Column tiles
//===----------------------------------------------------------------------===//

Tile codegen::fullTile(const VectorUnit &unit, const RegisterTile &tile) {
  return {tile.rows,   tile.vectors, unit.lanes,  unit.lanes,
          unit.hasFMA, tile.product, tile.amxRows};
}

Tile codegen::lastTile(const VectorUnit &unit, const RegisterTile &tile,
                       int64_t columns) {
  Tile last = fullTile(unit, tile);
  int64_t rest = columns % (tile.vectors * unit.lanes);
  if (rest == 0)
    return last;
  last.vectors = llvm::divideCeil(rest, unit.lanes);
  last.lastLanes = rest - (last.vectors - 1) * unit.lanes;
  return last;
}

void codegen::forEachColumnTile(
    IndexBuilder &b, Index begin, Index end, int64_t count, const Tile &full,
    const Tile &last, function_ref<void(Value, const Tile &)> body) {
  bool isUniform = full.columns() == last.columns();
  Index endFull = isUniform ? end : b.min(end, count - 1);
  forEach(b, begin, endFull, 1, [&](Value tile) { body(tile, full); });
  if (isUniform)
    return;
  if (!end.value && end.constant == count) {
    body(b.get(count - 1), last);
    return;
  }
  Value hasLast = arith::CmpIOp::create(
      b.b, b.loc, arith::CmpIPredicate::eq, b.get(end), b.get(count));
  auto branch = scf::IfOp::create(b.b, b.loc, hasLast, /*withElse=*/false);
  OpBuilder::InsertionGuard guard(b.b);
  b.b.setInsertionPointToStart(branch.thenBlock());
  body(b.get(count - 1), last);
}
