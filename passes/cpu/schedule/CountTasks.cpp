//===- CountTasks.cpp - number of tasks of a kernel -----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/schedule/CountTasks.h"

#include "passes/cpu/kernels/Addressing.h"
#include "passes/cpu/schedule/ChooseSchedule.h"
#include "passes/cpu/schedule/Plans.h"
#include "passes/support/Shapes.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;
using support::shapeOf;

namespace {

/// The rows that a schedule splits: `count` rows in each of `batches` batches.
struct RowCount {
  Index count, batches = 1;
};

} // namespace

/// Counts rows over dimensions [0, end) of `value`.
static RowCount rowsOf(IndexBuilder &b, Value value, int64_t end) {
  return {countOf(b, value, 0, end)};
}

/// Counts rows over all dimensions but the last two.
static RowCount rowsOfPixels(IndexBuilder &b, Value dst) {
  return rowsOf(b, dst, shapeOf(dst).size() - 2);
}

/// Counts the tiles of outputs x outputs pixels of all images.
static RowCount winogradTilesOf(IndexBuilder &b, Value dst, int64_t outputs) {
  return {b.mul(dimOf(b, dst, 0),
                b.mul(countWinogradTiles(b, dst, 0, outputs),
                      countWinogradTiles(b, dst, 1, outputs)))};
}

static RowCount rowsOf(IndexBuilder &b, cpu::ConvOp op) {
  cpu::ScheduleAttr schedule = op.getScheduleAttr();
  if (schedule.getWinograd() != 0)
    return winogradTilesOf(b, op.getDst(), schedule.getWinograd());
  if (!schedule.getAcrossRows())
    return rowsOfPixels(b, op.getDst());
  return rowsOf(b, op.getDst(), shapeOf(op.getDst()).size() - 1);
}

static RowCount rowsToSplit(IndexBuilder &b, Operation *op) {
  return TypeSwitch<Operation *, RowCount>(op)
      .Case([&](cpu::ConvOp conv) { return rowsOf(b, conv); })
      .Case<cpu::DepthwiseConvOp, cpu::PoolOp>(
          [&](auto window) { return rowsOfPixels(b, window.getDst()); })
      .Case([&](cpu::WinogradConvOp conv) {
        return winogradTilesOf(b, conv.getDst(), conv.getFormat().getOutputs());
      })
      .Case<cpu::MatMulOp, cpu::PackedMatMulOp>([&](auto product) -> RowCount {
        Value dst = product.getDst();
        int64_t rank = shapeOf(dst).size();
        Index rows = countOf(b, dst, rank - 2, rank - 1);
        return {rows, countOf(b, dst, 0, rank - 2)};
      })
      .Case([&](cpu::GroupNormOp op) { return rowsOf(b, op.getDst(), 1); })
      .Case([&](cpu::ReduceOp reduce) -> RowCount {
        Value dst = reduce.getDst();
        Index rows = dimOf(b, dst, 0);
        // Counts tiles of open columns as rows.
        if (!reduce.reducesRows() && ShapedType::isDynamic(shapeOf(dst)[1]))
          rows = b.mul(rows,
                       b.divideCeil(dimOf(b, dst, 1),
                                    ColumnPlan(reduce).channelsPerTile));
        return {rows};
      })
      .Case([&](cpu::ResampleOp resample) {
        return rowsOf(b, resample.getDst(), resample.numRowDims());
      })
      .Case([&](cpu::BandMatMulOp product) {
        return rowsOf(b, product.getDst(), numRowDims(product));
      })
      .Case([&](cpu::SoftmaxOp softmax) -> RowCount {
        Value src = softmax.getSrc();
        int64_t last = shapeOf(src).size() - 1;
        if (!softmax.getColumns())
          return rowsOf(b, src, last);
        return {b.mul(countOf(b, src, 0, last - 1),
                      b.divideCeil(dimOf(b, src, last),
                                   kSoftmaxColumns))};
      })
      .Case<cpu::PackSignsOp, cpu::RoundBlocksOp, cpu::RowNormOp>(
          [&](auto row) {
            return rowsOf(b, row.getSrc(), shapeOf(row.getSrc()).size() - 1);
          });
}

Index cpu::countWinogradTiles(IndexBuilder &b, Value dst, int64_t d,
                              int64_t outputs) {
  return b.divideCeil(dimOf(b, dst, 1 + d), outputs);
}

TaskSplit cpu::splitTasks(IndexBuilder &b, const Grid &grid, Index rows,
                          int64_t tiles) {
  int64_t columnBlocks = llvm::divideCeil(tiles, grid.columnTilesPerTask);
  TaskSplit split{grid.rowsPerTask, grid.columnTilesPerTask, 0, columnBlocks};
  if (grid.rowBlocks != 0) {
    Index blocks = grid.rowBlocks;
    if (grid.wholeFrom != 0) {
      Value isWhole =
          b.compare(arith::CmpIPredicate::uge, rows, grid.wholeFrom);
      blocks = b.select(isWhole, grid.rowBlocks * columnBlocks, blocks);
      split.tilesPerTask = b.select(isWhole, tiles, split.tilesPerTask);
      split.columnBlocks = b.select(isWhole, 1, columnBlocks);
    }
    Index units = b.divideCeil(rows, grid.rowsPerTask);
    split.rowsPerTask =
        b.mul(b.max(b.divideCeil(units, blocks), 1), grid.rowsPerTask);
  }
  split.rowBlocks = b.divideCeil(rows, split.rowsPerTask);
  return split;
}

Value cpu::countTasks(OpBuilder &builder, cpu::ScheduledOpInterface op) {
  IndexBuilder b{builder, op->getLoc()};
  if (auto attention = dyn_cast<cpu::AttentionOp>(*op)) {
    Value dst = attention.getDst();
    Index blocks = b.divideCeil(dimOf(b, dst, 1),
                                AttentionPlan(attention).queriesPerTask);
    return b.get(b.mul(b.mul(dimOf(b, dst, 0), dimOf(b, dst, 2)), blocks));
  }
  if (auto recurrent = dyn_cast<cpu::RecurrentOp>(*op)) {
    RecurrentPlan plan(recurrent);
    Index batch = dimOf(b, recurrent.state(0, 0), 0);
    return b.get(b.mul(b.divideCeil(batch, plan.grid.rowsPerTask),
                       recurrent.numDirections()));
  }
  Plan plan(op);
  RowCount rows = rowsToSplit(b, op);
  TaskSplit split = splitTasks(b, plan.grid, rows.count, plan.tiles);
  return b.get(
      b.mul(b.mul(split.rowBlocks, split.columnBlocks), rows.batches));
}
