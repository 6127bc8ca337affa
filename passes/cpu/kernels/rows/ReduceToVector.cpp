//===- ReduceToVector.cpp - cpu-reduce-to-vector --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reductions along rows of contiguous elements:
//
//     for row
//       several accumulators, folded as a tree; epilogue, store
//
// Reductions over rows, which keep the channels:
//
//     for tile of channels
//       accumulators for a few rows side by side, folded as a tree; epilogue,
//       store
//
// If the number of channels is open, the last tile is computed vector by
// vector. Each tile of a row then counts as a row of the task. A single channel
// is reduced like a row. Sums of more than a few elements continue in f64 (see
// RowFolds.cpp).
//
// A range reads a row once, as integers. Positive floats have the order of
// signed integers. Negative floats have the order of their magnitudes as
// unsigned integers, above all positive floats. A NaN is beyond the infinity of
// its sign. So two integer maxima give both ends of the range, and find NaN.
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/Passes.h"
#include "passes/cpu/kernels/rows/RowEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace ingot {
#define GEN_PASS_DEF_REDUCETOVECTOR
#include "passes/cpu/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

namespace {

struct Emitter {
  Emitter(OpBuilder &builder, cpu::ReduceOp op)
      : b{builder, op.getLoc()}, op(op), src(b, op.getSrc()),
        output(b, op), length(dimOf(b, op.getSrc(), 1)) {}

  void emit(Value task) {
    if (op.reducesRows())
      emitRows(task);
    else if (ShapedType::isDynamic(output.dst.shape[1]))
      emitOpenColumns(task);
    else
      emitColumns(task);
  }
  void emitRows(Value task);
  void emitRow(Index row);
  void emitRange(Index row);
  void emitColumns(Value task);
  void emitOpenColumns(Value task);
  void emitTile(const Tile &tile, Index row, Index channel, Value mask);
  Value prepare(IndexBuilder &b, Value x);
  Value finish(IndexBuilder &b, Value folded);

  IndexBuilder b;
  cpu::ReduceOp op;
  Flat src;
  Output output;
  Index length;
};

struct ReduceToVectorPass
    : ingot::impl::ReduceToVectorBase<ReduceToVectorPass> {
  void runOnOperation() override {
    if (failed(emitKernels<cpu::ReduceOp, Emitter>(getOperation())))
      signalPassFailure();
  }
};

} // namespace

/// Converts an element to the value that the reduction folds.
Value Emitter::prepare(IndexBuilder &b, Value x) {
  x = bytesToFloats(b, x);
  if (op.getKind() == cpu::ReduceKind::sum_square)
    return squareVector(b, x);
  return x;
}

Value Emitter::finish(IndexBuilder &b, Value folded) {
  if (op.getKind() != cpu::ReduceKind::mean)
    return folded;
  Value count = splat(b, cast<VectorType>(folded.getType()).getDimSize(0),
                      toFloat(b, length));
  return arith::DivFOp::create(b.b, b.loc, folded, count);
}

void Emitter::emitRows(Value task) {
  Plan plan(op);
  TaskRange range = rangeOf(b, task, plan.grid, dimOf(b, op.getDst(), 0), 1);
  forEach(b, range.firstRow, range.endRow, 1,
          [&](Value row) { emitRow(Index(row)); });
}

void Emitter::emitRow(Index row) {
  if (op.getKind() == cpu::ReduceKind::range)
    return emitRange(row);
  TargetInfo target = TargetInfo::of(op);
  Index from = src.at(b, {row, 0, 0});
  Value folded = foldRow(b, target, length, foldKindOf(op.getKind()),
                         [&](IndexBuilder &b, const Piece &piece) {
                           return prepare(b, loadPiece(b, target.lanes,
                                                       src.data,
                                                       b.add(from, piece.at),
                                                       piece.mask));
                         });
  storeVector(b, output, finish(b, splat(b, 1, folded)),
              VectorAt{{row, 0}, 1, 1, {}});
}

void Emitter::emitRange(Index row) {
  TargetInfo target = TargetInfo::of(op);
  Index from = src.at(b, {row, 0, 0});
  Type bits = b.b.getI32Type();
  Accumulators ends = foldRowByKinds(
      b, target, length, {FoldKind::maxSignedBits, FoldKind::maxUnsignedBits},
      [&](IndexBuilder &b, const Piece &piece) -> Value {
        return arith::BitcastOp::create(
            b.b, b.loc, VectorType::get({target.lanes}, bits),
            loadPiece(b, target.lanes, src.data, b.add(from, piece.at),
                      piece.mask));
      });
  auto constant = [&](int32_t value) -> Value {
    return arith::ConstantOp::create(b.b, b.loc, b.b.getI32IntegerAttr(value));
  };
  // Flips the sign. Positive numbers become negative, and then 0.
  Value flipped = arith::XOrIOp::create(
      b.b, b.loc, ends[1], constant(std::numeric_limits<int32_t>::min()));
  ends[1] = arith::MaxSIOp::create(b.b, b.loc, flipped, constant(0));
  for (Value &end : ends)
    end = arith::BitcastOp::create(b.b, b.loc, b.b.getF32Type(), end);
  Value hasNaN = arith::CmpFOp::create(b.b, b.loc, arith::CmpFPredicate::UNO,
                                       ends[0], ends[1]);
  Value nan = floatConstant(b, std::numeric_limits<float>::quiet_NaN());
  for (Value &end : ends)
    end = arith::SelectOp::create(b.b, b.loc, hasNaN, nan, end);
  storeVector(b, output,
              vector::FromElementsOp::create(
                  b.b, b.loc, VectorType::get({2}, b.b.getF32Type()), ends),
              VectorAt{{row, 0}, 2, 2, {}});
}

/// Emits the channels of a tile, beginning with `channel`. If there is a mask,
/// the tile has one vector, and only the lanes of the mask.
void Emitter::emitTile(const Tile &tile, Index row, Index channel, Value mask) {
  Index from = src.at(b, {row, 0, channel});
  Accumulators folded = foldColumns(
      b, tile, length, foldKindOf(op.getKind()),
      [&](IndexBuilder &b, Index r, int64_t v) {
        Index at =
            b.add(b.add(from, b.mul(r, src.strides[1])), v * tile.lanes);
        return prepare(b, loadPiece(b, tile.lanes, src.data, at,
                                    mask ? mask : maskOfVector(b, tile, v)));
      });
  for (Value &vector : folded)
    vector = finish(b, vector);
  if (mask)
    return storeVector(b, output, folded[0],
                       VectorAt{{row, channel}, tile.lanes, tile.lanes, mask});
  storeTile(b, tile.withRows(1), output, folded,
            [&](IndexBuilder &, Index) -> SmallVector<Index> {
              return {row, channel};
            });
}

void Emitter::emitColumns(Value task) {
  ColumnPlan plan(op);
  TaskRange range =
      rangeOf(b, task, plan.grid, dimOf(b, op.getDst(), 0), plan.tiles);
  int64_t channels = output.dst.shape[1];
  int64_t width = plan.tile.vectors * plan.target.lanes;
  forEach(b, range.firstRow, range.endRow, 1, [&](Value row) {
    forEachColumnTile(b, {range.firstTile, range.endTile, plan.tiles},
                      fullTile(plan.target, plan.tile),
                      lastTile(plan.target, plan.tile, channels),
                      [&](Value number, const Tile &tile) {
                        emitTile(tile, Index(row), b.mul(Index(number), width),
                                 {});
                      });
  });
}

void Emitter::emitOpenColumns(Value task) {
  ColumnPlan plan(op);
  Index channels = dimOf(b, op.getDst(), 1);
  Index blocks = b.divideCeil(channels, plan.channelsPerTile);
  TaskRange range = rangeOf(b, task, plan.grid,
                            b.mul(dimOf(b, op.getDst(), 0), blocks), 1);
  Tile full = fullTile(plan.target, plan.tile), one = full;
  one.vectors = 1;
  forEach(b, range.firstRow, range.endRow, 1, [&](Value number) {
    Index row = b.div(Index(number), blocks);
    Index channel =
        b.mul(b.rem(Index(number), blocks), plan.channelsPerTile);
    Index rest = b.sub(channels, channel);
    auto emitVectors = [&] {
      forEachLongPiece(b, plan.target, rest,
                       [&](IndexBuilder &b, const Piece &piece) {
                         emitTile(one, row, b.add(channel, piece.at),
                                  piece.mask);
                       });
    };
    auto emitTiles = [&] {
      b.branch(
          b.compare(arith::CmpIPredicate::sge, rest, plan.channelsPerTile),
          [&] { emitTile(full, row, channel, {}); }, emitVectors);
    };
    b.branch(isOneColumn(b, channels, {src}), [&] { emitRow(row); }, emitTiles);
  });
}
