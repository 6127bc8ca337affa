//===- ConvToVector.cpp - cpu-conv-to-vector ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// for block of rows, column tile: what it reads stays in the second-level cache
//   for output row (n, e1, …, e(n-1))
//     for pixel tile within the row (its pixels stay in the first-level cache)
//       for taps of the outer kernel dimensions that lie within src
//         for k over the taps of the row and their channels, contiguous in src:
//           accumulators += src[pixel, k] * weights[k, column]
//       epilogue, store
//
// Taps in the padding are not computed: in the outer dimensions the bounds of the
// loops leave them out; within a row it is known which pixels of which tile have
// them, and such a tile has code of its own, tap by tap.
//
//===----------------------------------------------------------------------===//
#include "passes/Passes.h"
#include "passes/codegen/Kernels.h"
#include "passes/codegen/RowTiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace ingot {
#define GEN_PASS_DEF_CONVTOVECTOR
#include "passes/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::codegen;

namespace {

struct Emitter {
  Emitter(OpBuilder &builder, cpu::ConvOp op)
      : b{builder, op.getLoc()}, op(op), plan(op), src(b, op.getSrc()),
        weights(b, op.getWeights()), dst(b, op.getDst()),
        outer(src.shape.size() - 3),
        window(op.getStrides(), op.getPads(), op.getDilations(),
               weights.shape.drop_front().drop_back(2), src.shape, dst.shape) {
    for (Value operand : op.getEpilogueOperands())
      operands.emplace_back(b, operand);
  }

  void emit(Value task);
  void emitRow(const Tile &tile, Index group, Index columnTile, Index row);
  void emitTile(const Tile &tile, const RowTile &pixels, Index firstPixel,
                Index group, Index columnTile, ArrayRef<Index> row);
  Accumulators sumOuter(const Tile &tile, const RowTile &pixels,
                        SmallVector<Index> srcAt, SmallVector<Index> weightsAt,
                        ArrayRef<Index> row, int64_t dim,
                        const Accumulators &start);
  Accumulators sumRow(const Tile &tile, const RowTile &pixels,
                      ArrayRef<Index> srcAt, ArrayRef<Index> weightsAt,
                      const Accumulators &start);

  IndexBuilder b;
  cpu::ConvOp op;
  ConvPlan plan;
  Flat src, weights, dst;
  SmallVector<Flat> operands;
  /// Spatial dimensions but the last.
  int64_t outer;
  Window window;
};

struct ConvToVectorPass : ingot::impl::ConvToVectorBase<ConvToVectorPass> {
  void runOnOperation() override {
    if (failed(emitKernels<cpu::ConvOp, Emitter>(getOperation())))
      signalPassFailure();
  }
};

} // namespace

void Emitter::emit(Value task) {
  Index rows = window.countRows(b, op.getDst());
  TaskRange range = rangeOf(b, task, plan.grid, rows, plan.columnTiles());
  int64_t columns = dst.shape.back() / plan.groups;
  auto emitTiles = [&](Index begin, Index end, Index group) {
    forEachColumnTile(
        b, begin, end, plan.tilesPerGroup, fullTile(plan.unit, plan.tile),
        lastTile(plan.unit, plan.tile, columns),
        [&](Value columnTile, const Tile &tile) {
          forEach(b, range.firstRow, range.endRow, 1, [&](Value row) {
            emitRow(tile, group, Index(columnTile), Index(row));
          });
        });
  };
  if (plan.groups == 1)
    return emitTiles(range.firstTile, range.endTile, 0);
  // One column tile a task.
  Index group = b.div(range.firstTile, plan.tilesPerGroup);
  Index tile = b.rem(range.firstTile, plan.tilesPerGroup);
  emitTiles(tile, b.add(tile, 1), group);
}

void Emitter::emitRow(const Tile &tile, Index group, Index columnTile,
                      Index row) {
  SmallVector<Index> at = window.coordinatesOfRow(b, row);
  for (const RowTile &pixels : window.splitRow(tile.rows)) {
    forEach(b, 0, pixels.count, 1, [&](Value i) {
      Index first = b.add(b.mul(Index(i), pixels.size), pixels.first);
      emitTile(tile.withRows(pixels.size), pixels, first, group, columnTile,
               at);
    });
  }
}

void Emitter::emitTile(const Tile &tile, const RowTile &pixels,
                       Index firstPixel, Index group, Index columnTile,
                       ArrayRef<Index> row) {
  int64_t width = plan.tile.vectors * plan.unit.lanes;
  int64_t inner = window.inner();
  // Where tap 0 of the first pixel would be; the outer taps come on top.
  SmallVector<Index> srcAt = {row[0]};
  for (int64_t d = 0; d < outer; ++d)
    srcAt.push_back(b.add(b.mul(row[1 + d], window.strides[d]),
                          -window.pads[d]));
  srcAt.push_back(b.add(b.mul(firstPixel, window.strides[inner]),
                        -window.pads[inner]));
  int64_t channels = weights.shape[weights.shape.size() - 2];
  srcAt.push_back(b.mul(group, channels));

  int64_t panels = weights.shape[0] / plan.groups;
  SmallVector<Index> weightsAt = {b.add(
      b.mul(group, panels), b.div(columnTile, plan.tilesPerPanel))};
  weightsAt.append(outer + 2, Index(0));
  weightsAt.push_back(b.mul(b.rem(columnTile, plan.tilesPerPanel), width));

  Accumulators sums = sumOuter(tile, pixels, srcAt, weightsAt, row, 0,
                               zeroAccumulators(b, tile));
  Index column = b.add(b.mul(group, dst.shape.back() / plan.groups),
                       b.mul(columnTile, width));
  storeTile(b, tile, op, dst, operands, sums,
            [&](IndexBuilder &b, Index inTile) {
              SmallVector<Index> coordinates(row);
              coordinates.append({b.add(firstPixel, inTile), column});
              return coordinates;
            });
}

/// The taps of outer dimension `dim` and those within.
Accumulators Emitter::sumOuter(const Tile &tile, const RowTile &pixels,
                               SmallVector<Index> srcAt,
                               SmallVector<Index> weightsAt,
                               ArrayRef<Index> row, int64_t dim,
                               const Accumulators &start) {
  if (dim == outer)
    return sumRow(tile, pixels, srcAt, weightsAt, start);
  auto [begin, end] = window.tapsWithin(b, dim, srcAt[1 + dim]);
  Index origin = srcAt[1 + dim];
  return forEach(b, begin, end, start,
                 [&](Value tap, const Accumulators &sums) {
                   srcAt[1 + dim] = b.add(
                       origin, b.mul(Index(tap), window.dilations[dim]));
                   weightsAt[1 + dim] = Index(tap);
                   return sumOuter(tile, pixels, srcAt, weightsAt, row, dim + 1,
                                   sums);
                 });
}

/// The taps along the row.
Accumulators Emitter::sumRow(const Tile &tile, const RowTile &pixels,
                             ArrayRef<Index> srcAt, ArrayRef<Index> weightsAt,
                             const Accumulators &start) {
  int64_t inner = window.inner();
  int64_t channels = weights.shape[weights.shape.size() - 2];
  int64_t taps = window.kernel[inner], stride = window.strides[inner];
  Index from = src.at(b, srcAt), panelAt = weights.at(b, weightsAt);
  Index pixelStride = src.strides[src.strides.size() - 2];
  auto rowsOf = [&](int64_t tap) {
    Index first = b.add(from, b.mul(pixelStride, tap * window.dilations[inner]));
    Rows rows(b, src.data, first, b.mul(pixelStride, stride), tile.rows);
    for (int64_t r = 0; r < tile.rows; ++r)
      if (!pixels.hasTap(r, tap))
        rows.at[r] = std::nullopt;
    return rows;
  };
  bool isContiguous = plan.groups == 1 && window.dilations[inner] == 1 &&
                      !pixelStride.value && pixelStride.constant == channels;
  if (pixels.isWhole() && taps == 1)
    return multiplyAddWhole(b, tile, rowsOf(0), weights.data, panelAt,
                            plan.panel, channels, start, op);
  if (pixels.isWhole() && isContiguous)
    return multiplyAdd(b, tile, rowsOf(0), weights.data, panelAt, plan.panel,
                       taps * channels, start);
  Accumulators sums = start;
  for (int64_t tap = 0; tap < taps; ++tap)
    sums = multiplyAdd(b, tile, rowsOf(tap), weights.data,
                       b.add(panelAt, tap * channels * plan.panel), plan.panel,
                       channels, sums);
  return sums;
}
