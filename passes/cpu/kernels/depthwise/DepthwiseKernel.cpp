//===- DepthwiseKernel.cpp - data of a depthwise convolution --------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/kernels/depthwise/DepthwiseKernel.h"

#include "passes/cpu/policy/Thresholds.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

DepthwiseKernel::DepthwiseKernel(OpBuilder &builder, cpu::DepthwiseConvOp op)
    : b{builder, op.getLoc()}, op(op), plan(op), src(b, op.getSrc()),
      weights(b, op.getWeights()), output(b, op),
      outer(src.shape.size() - 3), window{op.getStrides(),
                                          op.getPads(),
                                          op.getDilations(),
                                          weights.shape.drop_back(),
                                          spatialSizes(b, op.getSrc()),
                                          spatialSizes(b, op.getDst())} {
  int64_t most = std::min(plan.tiles, plan.tilesPerBlock) * columns();
  if (readsInt8() && output.dst.shape.back() >= columns())
    blocks.emplace(b, output, ByteBlock{plan.target.lanes, plan.tile.vectors},
                   most);
}

SmallVector<Index> TilePosition::coordinates(IndexBuilder &b,
                                             Index pixel) const {
  SmallVector<Index> at(row);
  at.append({b.add(firstPixel, pixel), channel});
  return at;
}

/// Returns true if the last tile may overlap the previous tile. An overlap
/// computes some sums twice; this costs as much as a partial vector but takes
/// less code. It is not allowed if another task would write the same channels,
/// or if an operand of the epilogue may alias dst.
bool DepthwiseKernel::overlapsChannels() {
  int64_t channels = output.dst.shape.back();
  // Uses overlaps also for rows of dynamic size. Such kernels then have only
  // whole tiles, so that they differ only in constants and may share code.
  bool isPartial = channels % columns() != 0,
       isOpen = bool(window.dstSizes[window.inner()].value);
  return !readsInt8() && channels > columns() && (isPartial || isOpen) &&
         plan.grid.columnTilesPerTask >= plan.tiles && output.mayStoreAgain();
}

void DepthwiseKernel::forEachChannelTile(
    Index firstTile, Index endTile, int64_t rows,
    function_ref<void(Index, const Tile &)> body) {
  int64_t channels = output.dst.shape.back();
  bool overlaps = overlapsChannels();
  Tile full = fullTile(plan.target, plan.tile).withRows(rows), last = full;
  if (!overlaps)
    last = lastTile(plan.target, plan.tile, channels).withRows(rows);
  forEachColumnTile(b, {firstTile, endTile, plan.tiles}, full, last,
                    [&](Value number, const Tile &tile) {
                      Index channel = b.mul(Index(number), columns());
                      if (overlaps)
                        channel = b.min(channel, channels - columns());
                      body(channel, tile);
                    });
}

BorderTile DepthwiseKernel::borderAt(int64_t pixels, Index firstPixel,
                                     Index count) {
  int64_t inner = window.inner();
  int64_t span = window.span(pixels);
  Index origin =
      b.add(b.mul(firstPixel, window.strides[inner]), -window.pads[inner]);
  Index size = window.srcSizes[inner];
  BorderTile border{count, {}, {}};
  for (int64_t i = 0; i < span; ++i) {
    Index at = b.add(origin, i);
    border.within.push_back(vector::BroadcastOp::create(
        b.b, b.loc, VectorType::get({plan.target.lanes}, b.b.getI1Type()),
        window.hasPixel(b, inner, at)));
    Index there = b.max(b.min(at, b.add(size, -1)), 0);
    border.nearest.push_back(b.sub(there, origin));
  }
  return border;
}

Value DepthwiseKernel::waitingSums() {
  if (!waiting)
    waiting = createScratch(b, plan.tile.rows * columns(), b.b.getF32Type());
  return waiting;
}

void DepthwiseKernel::storeBorder(const Tile &tile, const Accumulators &sums,
                                  const TilePosition &where) {
  spill(b, tile, sums, waitingSums(), 0);
  Tile one = tile.withRows(1).withDone(0);
  forEach(b, tile.done, where.border->count, 1, [&](Value pixel) {
    storeTile(b, one, output,
              reload(b, one, waitingSums(), b.mul(Index(pixel), tile.lanes)),
              [&](IndexBuilder &b, Index) {
                return where.coordinates(b, Index(pixel));
              });
  });
}

bool DepthwiseKernel::storesByPixel(const Tile &tile) {
  return !tile.isPart() &&
         epilogueCost(op) * tile.rows <= cpu::threshold::depthwiseUnrolledOps;
}

void DepthwiseKernel::storeWaiting(const BlockStore &store, const Tile &tile,
                                   const Accumulators &sums,
                                   const TilePosition &where) {
  spill(b, tile, sums, waitingSums(), 0);
  Index end = where.border ? where.border->count : Index(tile.rows);
  forEach(b, tile.done, end, 1, [&](Value pixel) {
    SmallVector<Index> coordinates = where.coordinates(b, Index(pixel));
    store.store(b,
                reload(b, tile.withRows(1), waitingSums(),
                       b.mul(Index(pixel), tile.vectors * tile.lanes)),
                coordinates);
  });
}
