//===- DepthwiseToVector.cpp - cpu-depthwise-to-vector --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Depthwise convolutions and grouped ones with two or four channels in a group:
//
//     for block of channels: the rows of src that output rows share stay in the
//         first-level cache
//       for output row
//         for pixel tile within the row
//           for vector of channels
//             for taps of the outer kernel dimensions that lie within src
//               accumulators[pixel] += src[pixel, tap] * weights[tap]
//           epilogue, store
//
// All taps of a row are unrolled, and a pixel under several taps is loaded
// once. In groups of two or four channels there is a product for each channel
// of the group. A shuffle copies the channel to all lanes of its group. If the
// schedule says so, int8 are multiplied in groups of four, or in pairs of int16
// (DepthwiseInt8.cpp).
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/Passes.h"
#include "passes/cpu/kernels/depthwise/DepthwiseEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <functional>

namespace ingot {
#define GEN_PASS_DEF_DEPTHWISETOVECTOR
#include "passes/cpu/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

namespace {

struct DepthwiseToVectorPass
    : ingot::impl::DepthwiseToVectorBase<DepthwiseToVectorPass> {
  void runOnOperation() override {
    if (failed(emitKernels<cpu::DepthwiseConvOp, DepthwiseEmitter>(
            getOperation())))
      signalPassFailure();
  }
};

} // namespace

DepthwiseEmitter::DepthwiseEmitter(OpBuilder &builder, cpu::DepthwiseConvOp op)
    : kernel(builder, op), b(kernel.b), window(kernel.window), floats(kernel) {
  if (kernel.readsInt8())
    words.emplace(kernel, floats);
}

void DepthwiseEmitter::emit(Value task) {
  Index rows = countOf(b, kernel.op.getDst(), 0, kernel.outer + 1);
  TaskRange range = rangeOf(b, task, kernel.plan.grid, rows, kernel.plan.tiles);
  if (kernel.readsInt8())
    return emitBytes(range);
  emitRows(range);
}

/// Returns the coordinates of an output row. A single image needs no division,
/// whose divisor would keep kernels of other sizes from sharing the code.
SmallVector<Index> DepthwiseEmitter::coordinatesOfRow(Index row) {
  if (kernel.outer == 1 && kernel.output.dst.shape.front() == 1)
    return {0, row};
  return coordinatesOf(b, kernel.op.getDst(), kernel.outer + 1, row);
}

void DepthwiseEmitter::emitRows(const TaskRange &range) {
  forEach(b, range.firstTile, range.endTile, kernel.plan.tilesPerBlock,
          [&](Value firstTile) {
            Index endTile =
                b.min(b.add(Index(firstTile), kernel.plan.tilesPerBlock),
                      range.endTile);
            prepareBlock(Index(firstTile), endTile);
            forEach(b, range.firstRow, range.endRow, 1, [&](Value row) {
              SmallVector<Index> at = coordinatesOfRow(Index(row));
              if (kernel.readsInt8())
                findSources(at);
              emitRow(at, Index(firstTile), endTile);
            });
          });
}

/// Emits the vectors [firstTile, endTile) of channels of an output row.
void DepthwiseEmitter::emitRow(ArrayRef<Index> row, Index firstTile,
                               Index endTile) {
  if (window.dstSizes[window.inner()].value)
    return emitOpenRow(row, firstTile, endTile);
  if (words)
    return words->emitRow(row, firstTile, endTile);
  window.forEachTile(b, kernel.plan.tile.rows,
                     [&](const PixelTile &pixels, Index firstPixel, Index) {
                       kernel.forEachChannelTile(
                           firstTile, endTile, pixels.size,
                           [&](Index channel, const Tile &tile) {
                             emitTile(tile, {pixels, firstPixel, channel, row});
                           });
                     });
}

void DepthwiseEmitter::emitColumns(const TilePosition &where, Index done,
                                   Index firstTile, Index endTile) {
  kernel.forEachChannelTile(firstTile, endTile, where.pixels.size,
                            [&](Index channel, const Tile &tile) {
                              emitTile(tile.withDone(done),
                                       where.withChannel(channel));
                            });
}

void DepthwiseEmitter::emitTile(const Tile &tile, const TilePosition &where) {
  if (words)
    return words->emitTile(tile, where);
  floats.emitTile(tile, where);
}

/// Emits int8 products. Reads no pixel if src is empty at run time.
void DepthwiseEmitter::emitBytes(const TaskRange &range) {
  Index pixels = 1;
  for (Index size : window.srcSizes)
    if (size.value)
      pixels = b.mul(pixels, size);
  if (!pixels.value)
    return emitRows(range);
  b.branch(
      b.compare(arith::CmpIPredicate::ne, pixels, 0), [&] { emitRows(range); },
      [&] { emitEmpty(range); });
}

/// Emits a task whose taps are all in the padding.
void DepthwiseEmitter::emitEmpty(const TaskRange &range) {
  RegisterTile one{1, kernel.plan.tile.vectors};
  Tile full = fullTile(kernel.plan.target, one);
  Tile last = lastTile(kernel.plan.target, one, kernel.output.dst.shape.back());
  forEach(b, range.firstRow, range.endRow, 1, [&](Value row) {
    SmallVector<Index> at = coordinatesOfRow(Index(row));
    forEach(b, 0, window.dstSizes[window.inner()], 1, [&](Value pixel) {
      forEachColumnTile(
          b, {range.firstTile, range.endTile, kernel.plan.tiles}, full, last,
          [&](Value channelTile, const Tile &tile) {
            storeTile(b, tile, kernel.output, zeroAccumulators(b, tile),
                      [&](IndexBuilder &b, Index) {
                        SmallVector<Index> coordinates(at);
                        coordinates.append(
                            {Index(pixel),
                             b.mul(Index(channelTile), kernel.columns())});
                        return coordinates;
                      });
          });
    });
  });
}

void DepthwiseEmitter::prepareBlock(Index firstTile, Index endTile) {
  if (words)
    words->prepare(firstTile, endTile);
  else
    floats.prepare(firstTile, endTile);
}

void DepthwiseEmitter::findSources(ArrayRef<Index> row) {
  SourceRows &sources = kernel.sources;
  sources = {};
  // Multiplies by a stride of one, too, so that kernels share code with those
  // of other strides. LLVM leaves the product out of code that is not shared.
  SmallVector<Index> scaled(row);
  for (int64_t d = 0; d < kernel.outer; ++d)
    if (window.strides[d] == 1 && row[1 + d].value)
      scaled[1 + d] = Value(
          arith::MulIOp::create(b.b, b.loc, b.get(row[1 + d]),
                                arith::ConstantIndexOp::create(b.b, b.loc, 1)));
  SmallVector<Index> origin = window.originOf(b, scaled, 0);
  SmallVector<Index> at(origin.size() + 1, Index(0));
  at[0] = origin[0];
  std::function<void(int64_t, Value)> goThrough = [&](int64_t d,
                                                      Value isThere) {
    if (d == kernel.outer) {
      sources.starts.push_back(kernel.src.at(b, at));
      sources.areThere.push_back(isThere);
      return;
    }
    for (int64_t tap = 0; tap < window.kernel[d]; ++tap) {
      at[1 + d] = b.add(origin[1 + d], tap * window.dilations[d]);
      Value there = isThere;
      if (window.crossesLow(d) || window.crossesHigh(d)) {
        there = b.both(there, window.hasPixel(b, d, at[1 + d]));
        at[1 + d] = b.max(b.min(at[1 + d], b.add(window.srcSizes[d], -1)), 0);
      }
      goThrough(d + 1, there);
    }
  };
  goThrough(0, {});
  words->maskWeights();
}
