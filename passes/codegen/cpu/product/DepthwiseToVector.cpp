//===- DepthwiseToVector.cpp - cpu-depthwise-to-vector --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// for block of channels: the rows of src that output rows share stay in the
//     first-level cache
//   for output row
//     for pixel tile within the row
//       for vector of channels
//         for taps of the outer kernel dimensions that lie within src
//           accumulators[pixel] += src[pixel, tap] * weights[tap], all taps of
//           the row unrolled: a pixel that several taps read is loaded once
//         epilogue, store
//
//===----------------------------------------------------------------------===//
#include "passes/codegen/cpu/Passes.h"
#include "passes/codegen/cpu/product/Kernels.h"
#include "passes/codegen/cpu/rows/PixelTiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace ingot {
#define GEN_PASS_DEF_DEPTHWISETOVECTOR
#include "passes/codegen/cpu/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::codegen;

namespace {

struct Emitter {
  Emitter(OpBuilder &builder, cpu::DepthwiseConvOp op)
      : b{builder, op.getLoc()}, op(op), plan(op), src(b, op.getSrc()),
        weights(b, op.getWeights()), output(b, op),
        outer(src.shape.size() - 3),
        window(op.getStrides(), op.getPads(), op.getDilations(),
               weights.shape.drop_back(), src.shape, output.dst.shape) {}

  void emit(Value task);
  void emitRow(ArrayRef<Index> row, Index firstTile, Index endTile);
  void emitTile(const Tile &tile, const PixelTile &pixels, Index firstPixel,
                Index channel, ArrayRef<Index> row);
  Value toFloats(Value pixel);
  Accumulators sumRow(const Tile &tile, const PixelTile &pixels,
                      ArrayRef<Index> srcAt, ArrayRef<Index> weightsAt,
                      const Accumulators &start);

  IndexBuilder b;
  cpu::DepthwiseConvOp op;
  DepthwisePlan plan;
  Flat src, weights;
  Output output;
  int64_t outer;
  ConvWindow window;
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
  Index rows = countOf(b, op.getDst(), 0, outer + 1);
  TaskRange range = rangeOf(b, task, plan.grid, rows, plan.tiles);
  forEach(b, range.firstTile, range.endTile, plan.tilesPerBlock,
          [&](Value firstTile) {
    Index endTile =
        b.min(b.add(Index(firstTile), plan.tilesPerBlock), range.endTile);
    forEach(b, range.firstRow, range.endRow, 1, [&](Value row) {
      emitRow(coordinatesOf(b, op.getDst(), outer + 1, Index(row)),
              Index(firstTile), endTile);
    });
  });
}

/// The vectors [firstTile, endTile) of channels of an output row.
void Emitter::emitRow(ArrayRef<Index> row, Index firstTile, Index endTile) {
  Tile full = fullTile(plan.target, plan.tile);
  Tile last = lastTile(plan.target, plan.tile, output.dst.shape.back());
  window.forEachTile(b, plan.tile.rows, [&](const PixelTile &pixels,
                                            Index firstPixel, Index) {
    forEachColumnTile(b, firstTile, endTile, plan.tiles, full, last,
                      [&](Value channelTile, const Tile &tile) {
                        emitTile(tile.withRows(pixels.size), pixels, firstPixel,
                                 b.mul(Index(channelTile), plan.target.lanes),
                                 row);
                      });
  });
}

void Emitter::emitTile(const Tile &tile, const PixelTile &pixels,
                       Index firstPixel, Index channel, ArrayRef<Index> row) {
  SmallVector<Index> srcAt = window.originOf(b, row, firstPixel);
  srcAt.push_back(channel);
  SmallVector<Index> weightsAt(outer + 1, Index(0));
  weightsAt.push_back(channel);
  Accumulators sums = window.sumOuter(
      b, srcAt, zeroAccumulators(b, tile),
      [&](ArrayRef<Index> srcAt, ArrayRef<Index> taps,
          const Accumulators &sums) {
        llvm::copy(taps, weightsAt.begin());
        return sumRow(tile, pixels, srcAt, weightsAt, sums);
      });
  storeTile(b, tile, output, sums,
            [&](IndexBuilder &b, Index inTile) {
              SmallVector<Index> coordinates(row);
              coordinates.append({b.add(firstPixel, inTile), channel});
              return coordinates;
            });
}

/// What is multiplied: bytes less their zero point, other numbers as they are.
Value Emitter::toFloats(Value pixel) {
  auto type = cast<VectorType>(pixel.getType());
  if (!type.getElementType().isInteger())
    return widenBF16(b, pixel);
  Value words = arith::ExtUIOp::create(b.b, b.loc, type.clone(b.b.getI32Type()),
                                       pixel);
  if (int64_t zero = op.getSrcZeroPoint())
    words = arith::SubIOp::create(
        b.b, b.loc, words,
        splatInt(b, cast<VectorType>(words.getType()), zero));
  return arith::SIToFPOp::create(b.b, b.loc, type.clone(b.b.getF32Type()),
                                 words);
}

/// The taps along the row.
Accumulators Emitter::sumRow(const Tile &tile, const PixelTile &pixels,
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
      pixel = toFloats(
          loadPart(b, tile, src.data, b.add(from, b.mul(pixelStride, i))));
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
