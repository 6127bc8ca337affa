//===- RowPlans.cpp - how kernels over rows and channels are split --------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/codegen/cpu/rows/Rows.h"
#include "passes/support/Shapes.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::codegen;
using lower::shapeOf;

/// What an element costs, in floating-point operations of a product: these
/// kernels wait for memory or for polynomials.
static constexpr int64_t kReduceCost = 8, kNormCost = 24, kSoftmaxCost = 60;

/// The product of sizes, of unknown ones a guess.
static int64_t guessProduct(ArrayRef<int64_t> sizes) {
  int64_t product = 1;
  for (int64_t size : sizes)
    product *= ShapedType::isDynamic(size) ? 64 : size;
  return product;
}

bool codegen::reducesRows(cpu::ReduceOp op) {
  return shapeOf(op.getSrc()).back() == 1;
}

static Grid splitRows(const VectorUnit &unit, int64_t rows,
                      int64_t costPerRow) {
  return chooseGrid(unit, {rows, /*columnTiles=*/1, costPerRow, /*rowUnit=*/1,
                     /*srcBytes=*/1, /*weightBytes=*/0});
}

RowPlan::RowPlan(Operation *op) : unit(vectorUnitOf(op)) {
  ArrayRef<int64_t> shape = shapeOf(op->getOperand(0));
  if (isa<cpu::ReduceOp>(op)) {
    grid = splitRows(unit, shape[0], kReduceCost * guessProduct(shape[1]));
    return;
  }
  int64_t cost = isa<cpu::SoftmaxOp>(op) ? kSoftmaxCost : kNormCost;
  grid = splitRows(unit, lower::productOf(shape.drop_back()),
                   cost * guessProduct(shape.back()));
}

/// Eight accumulators: enough to hide an addition's latency, and all registers
/// of AVX2 with the sums in f64.
static RegisterTile columnTile(const VectorUnit &unit, int64_t channels) {
  int64_t vectors =
      std::min<int64_t>(4, llvm::divideCeil(channels, unit.lanes));
  return {8 / vectors, vectors};
}

ColumnPlan::ColumnPlan(cpu::ReduceOp op) : unit(vectorUnitOf(op)) {
  ArrayRef<int64_t> src = shapeOf(op.getSrc());
  tile = columnTile(unit, src[2]);
  channelsPerTile = tile.vectors * unit.lanes;
  tiles = llvm::divideCeil(src[2], channelsPerTile);
  grid = chooseGrid(unit, {src[0], tiles,
                     kReduceCost * guessProduct({src[1], src[2]}),
                     /*rowUnit=*/1, /*srcBytes=*/0, /*weightBytes=*/0});
}

ColumnPlan::ColumnPlan(cpu::PoolOp op) : unit(vectorUnitOf(op)) {
  ArrayRef<int64_t> dst = shapeOf(op.getDst());
  tile = {1, columnTile(unit, dst.back()).vectors};
  channelsPerTile = tile.vectors * unit.lanes;
  tiles = llvm::divideCeil(dst.back(), channelsPerTile);
  // By rows: channels of a pixel lie together.
  grid = splitRows(unit, lower::productOf(dst.drop_back(2)),
                   kReduceCost * guessProduct(op.getKernel()) *
                       guessProduct(dst.take_back(2)));
  grid.columnTilesPerTask = tiles;
}

ColumnPlan::ColumnPlan(cpu::GroupNormOp op) : unit(vectorUnitOf(op)) {
  ArrayRef<int64_t> src = shapeOf(op.getSrc());
  int64_t perGroup = src[2] / op.getGroups();
  // Whole groups, of as many channels as a tile has or more.
  int64_t groups = llvm::divideCeil(4 * unit.lanes, perGroup);
  int64_t channels = std::min(src[2], groups * perGroup);
  tile = {1, int64_t(llvm::divideCeil(channels, unit.lanes))};
  channelsPerTile = channels;
  tiles = llvm::divideCeil(src[2], channels);
  grid = {1, 1, /*rowsOutside=*/true};
}

int64_t ColumnPlan::columnBlocks() const {
  return llvm::divideCeil(tiles, grid.columnTilesPerTask);
}
