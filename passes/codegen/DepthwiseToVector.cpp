//===- DepthwiseToVector.cpp - cpu-depthwise-to-vector --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// for output row
//   for pixel tile within the row
//     for vector of channels
//       for taps of the outer kernel dimensions that lie within src
//         accumulators[pixel] += src[pixel, tap] * weights[tap], all taps of the
//         row unrolled: a pixel of src that several taps read is loaded once
//       epilogue, store
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
#define GEN_PASS_DEF_DEPTHWISETOVECTOR
#include "passes/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::codegen;

namespace {

struct Emitter {
  Emitter(OpBuilder &builder, cpu::DepthwiseConvOp op)
      : b{builder, op.getLoc()}, op(op), plan(op), src(b, op.getSrc()),
        weights(b, op.getWeights()), dst(b, op.getDst()),
        outer(src.shape.size() - 3),
        window(op.getStrides(), op.getPads(), op.getDilations(),
               weights.shape.drop_back(), src.shape, dst.shape) {
    for (Value operand : op.getEpilogueOperands())
      operands.emplace_back(b, operand);
  }

  void emit(Value task);
  void emitTile(const Tile &tile, const RowTile &pixels, Index firstPixel,
                Index channel, ArrayRef<Index> row);
  Accumulators sumOuter(const Tile &tile, const RowTile &pixels,
                        SmallVector<Index> srcAt, SmallVector<Index> weightsAt,
                        int64_t dim, const Accumulators &start);
  Accumulators sumRow(const Tile &tile, const RowTile &pixels,
                      ArrayRef<Index> srcAt, ArrayRef<Index> weightsAt,
                      const Accumulators &start);

  IndexBuilder b;
  cpu::DepthwiseConvOp op;
  DepthwisePlan plan;
  Flat src, weights, dst;
  SmallVector<Flat> operands;
  int64_t outer;
  Window window;
};

struct DepthwiseToVectorPass
    : ingot::impl::DepthwiseToVectorBase<DepthwiseToVectorPass> {
  void runOnOperation() override {
    if (failed(emitKernels<cpu::DepthwiseConvOp, Emitter>(getOperation())))
      signalPassFailure();
  }
};

} // namespace

void Emitter::emit(Value task) {
  Index rows = window.countRows(b, op.getDst());
  TaskRange range = rangeOf(b, task, plan.grid, rows, plan.tiles);
  Tile full = fullTile(plan.unit, plan.tile);
  Tile last = lastTile(plan.unit, plan.tile, dst.shape.back());
  forEach(b, range.firstRow, range.endRow, 1, [&](Value row) {
    SmallVector<Index> at = window.coordinatesOfRow(b, Index(row));
    for (const RowTile &pixels : window.splitRow(plan.tile.rows))
      forEach(b, 0, pixels.count, 1, [&](Value i) {
        Index first = b.add(b.mul(Index(i), pixels.size), pixels.first);
        forEachColumnTile(b, 0, plan.tiles, plan.tiles, full, last,
                          [&](Value channelTile, const Tile &tile) {
                            emitTile(tile.withRows(pixels.size), pixels, first,
                                     b.mul(Index(channelTile), plan.unit.lanes),
                                     at);
                          });
      });
  });
}

void Emitter::emitTile(const Tile &tile, const RowTile &pixels,
                       Index firstPixel, Index channel, ArrayRef<Index> row) {
  int64_t inner = window.inner();
  SmallVector<Index> srcAt = {row[0]};
  for (int64_t d = 0; d < outer; ++d)
    srcAt.push_back(
        b.add(b.mul(row[1 + d], window.strides[d]), -window.pads[d]));
  srcAt.push_back(b.add(b.mul(firstPixel, window.strides[inner]),
                        -window.pads[inner]));
  srcAt.push_back(channel);
  SmallVector<Index> weightsAt(outer + 1, Index(0));
  weightsAt.push_back(channel);
  Accumulators sums = sumOuter(tile, pixels, srcAt, weightsAt, 0,
                               zeroAccumulators(b, tile));
  storeTile(b, tile, op, dst, operands, sums,
            [&](IndexBuilder &b, Index inTile) {
              SmallVector<Index> coordinates(row);
              coordinates.append({b.add(firstPixel, inTile), channel});
              return coordinates;
            });
}

/// The taps of outer dimension `dim` and those within.
Accumulators Emitter::sumOuter(const Tile &tile, const RowTile &pixels,
                               SmallVector<Index> srcAt,
                               SmallVector<Index> weightsAt, int64_t dim,
                               const Accumulators &start) {
  if (dim == outer)
    return sumRow(tile, pixels, srcAt, weightsAt, start);
  auto [begin, end] = window.tapsWithin(b, dim, srcAt[1 + dim]);
  Index origin = srcAt[1 + dim];
  return forEach(b, begin, end, start,
                 [&](Value tap, const Accumulators &sums) {
                   srcAt[1 + dim] = b.add(
                       origin, b.mul(Index(tap), window.dilations[dim]));
                   weightsAt[dim] = Index(tap);
                   return sumOuter(tile, pixels, srcAt, weightsAt, dim + 1,
                                   sums);
                 });
}

/// The taps along the row.
Accumulators Emitter::sumRow(const Tile &tile, const RowTile &pixels,
                             ArrayRef<Index> srcAt, ArrayRef<Index> weightsAt,
                             const Accumulators &start) {
  int64_t inner = window.inner();
  Index from = src.at(b, srcAt), tapAt = weights.at(b, weightsAt);
  Index pixelStride = src.strides[src.strides.size() - 2];
  Index tapStride = weights.strides[weights.strides.size() - 2];
  DenseMap<int64_t, Value> pixelsRead;
  auto pixelAt = [&](int64_t i) {
    Value &pixel = pixelsRead[i];
    if (!pixel)
      pixel = loadPart(b, tile, src.data, b.add(from, b.mul(pixelStride, i)));
    return pixel;
  };
  Accumulators sums = start;
  for (int64_t tap = 0; tap < window.kernel[inner]; ++tap) {
    Value factor;
    for (int64_t r = 0; r < tile.rows; ++r) {
      if (!pixels.hasTap(r, tap))
        continue;
      if (!factor)
        factor = loadPart(b, tile, weights.data,
                          b.add(tapAt, b.mul(tapStride, tap)));
      Value pixel = pixelAt(r * window.strides[inner] +
                            tap * window.dilations[inner]);
      sums[r] = multiplyAddVectors(b, tile, pixel, factor, sums[r]);
    }
  }
  return sums;
}
