//===- ConvBlocks.cpp - convolutions by blocks of weights -----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Convolution by blocks of weights. If rows are so short that a tile has few
// pixels, the second-level cache cannot deliver weights fast enough. A block of
// weights then serves all tiles of the task, and partial sums are kept on the
// stack:
//
//     for block of rows, column tile
//       for tap, block of its channels: weights stay in the first-level cache
//         for output row, pixel tile
//           for k in the block: sums += src[pixel, k] * weights[k, column]
//       epilogue, store
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/kernels/conv/ConvEmitter.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

void ConvEmitter::emitBlocks(const Tile &tile, const ColumnAt &columnAt,
                             const TaskRange &range) {
  int64_t inner = window.inner();
  int64_t stride = window.strides[inner], dilation = window.dilations[inner];
  int64_t pixelSize = tile.vectors * tile.lanes;
  int64_t rowSize = output.dst.shape[outer + 1] * pixelSize;
  int64_t block = plan.depthBlock * plan.weights.group;
  if (!waiting)
    waiting =
        createScratch(b,
                      plan.grid.rowsPerTask * output.dst.shape[outer + 1] *
                          plan.tile.vectors * tile.lanes,
                      sumType(b, tile));

  using Body = function_ref<void(const Tile &, const PixelTile &, Index)>;
  auto forEachTile = [&](Body body) {
    window.forEachTile(b, tile.rows, [&](const PixelTile &pixels,
                                         Index firstPixel, Index) {
      body(tile.withRows(pixels.size), pixels, firstPixel);
    });
  };
  auto waitingAt = [&](Value rowInTask, Index firstPixel) {
    return b.add(b.mul(Index(rowInTask), rowSize),
                 b.mul(firstPixel, pixelSize));
  };
  Index numRows = b.sub(range.endRow, range.firstRow);
  forEach(b, 0, numRows, 1, [&](Value rowInTask) {
    forEachTile([&](const Tile &part, const PixelTile &, Index firstPixel) {
      Index sumsAt = waitingAt(rowInTask, firstPixel);
      spill(b, part, zeroAccumulators(b, part), waiting, sumsAt);
    });
  });

  SmallVector<Index> weightsAt = conv.weightsOf(columnAt);
  columns.prepareWidened(tile, block);
  // Adds the products of `size` channels, beginning with `channel`, at one tap.
  auto addBlock = [&](ArrayRef<Index> taps, int64_t tap, Index channel,
                      int64_t size) {
    llvm::copy(taps, weightsAt.begin() + 1);
    weightsAt[1 + outer] = tap;
    Index from = b.add(weights.at(b, weightsAt), b.mul(channel, plan.panel));
    columns.clearWidened(from);
    forEach(b, 0, numRows, 1, [&](Value rowInTask) {
      SmallVector<Index> row =
          coordinatesOf(b, op.getDst(), outer + 1,
                        b.add(range.firstRow, Index(rowInTask)));
      window.ifWithin(b, row, taps, [&](ArrayRef<Index> srcRow) {
        forEachTile([&](const Tile &part, const PixelTile &pixels,
                        Index firstPixel) {
          Index sumsAt = waitingAt(rowInTask, firstPixel);
          SmallVector<Index> at(srcRow);
          at.push_back(b.add(b.mul(firstPixel, stride),
                             tap * dilation - window.pads[inner]));
          at.push_back(b.add(b.mul(columnAt.group, channels), channel));
          SrcRows rows =
              conv.rowsOfTap(part, pixels, tap, src.data, src.at(b, at),
                             b.mul(pixelStride, stride));
          NextWeights next =
              nextWeights(b, weights.data, b.add(from, size * plan.panel),
                          size * plan.panel, Index(rowInTask),
                          plan.grid.rowsPerTask);
          auto multiply = [&](const TileWeights &used) {
            return multiplyAdd(b, used, rows, size,
                               reload(b, part, waiting, sumsAt),
                               next.times(b, plan.panel / used.panel));
          };
          Accumulators total = columns.sumWidened(
              {part, weights.data, from, plan.panel}, taps, multiply);
          spill(b, part, total, waiting, sumsAt);
        });
      });
    });
  };
  window.forEachOuterTap(b, [&](ArrayRef<Index> taps) {
    for (int64_t tap = 0; tap < window.kernel[inner]; ++tap)
      forEachBlock(b, channels, block, [&](Index channel, int64_t size) {
        addBlock(taps, tap, channel, size);
      });
  });

  forEach(b, 0, numRows, 1, [&](Value rowInTask) {
    SmallVector<Index> row =
        coordinatesOf(b, op.getDst(), outer + 1,
                      b.add(range.firstRow, Index(rowInTask)));
    forEachTile([&](const Tile &part, const PixelTile &, Index firstPixel) {
      Index sumsAt = waitingAt(rowInTask, firstPixel);
      conv.store(part, reload(b, part, waiting, sumsAt), columnAt,
                 {row, firstPixel});
    });
  });
}
