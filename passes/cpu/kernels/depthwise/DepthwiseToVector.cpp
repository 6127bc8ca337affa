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
//           the row unrolled: a pixel that several taps read is loaded once;
//           of groups of two or four channels, for each channel of the group,
//           which a shuffle brings to all lanes of its group
//         epilogue, store
//
// Bytes are multiplied in fours or in pairs of words where the schedule says
// so: DepthwiseDot.cpp, DepthwiseWords.cpp.
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/Passes.h"
#include "passes/cpu/kernels/depthwise/DepthwiseEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

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

DepthwiseEmitter::DepthwiseEmitter(OpBuilder &builder,
                                   cpu::DepthwiseConvOp op)
    : b{builder, op.getLoc()}, op(op), plan(op), src(b, op.getSrc()),
      weights(b, op.getWeights()), output(b, op),
      outer(src.shape.size() - 3),
      window{op.getStrides(),
             op.getPads(),
             op.getDilations(),
             weights.shape.drop_back(),
             spatialSizes(b, op.getSrc()),
             spatialSizes(b, op.getDst())} {
  int64_t channels = output.dst.shape.back(), lanes = plan.target.lanes;
  int64_t most = std::min(plan.tiles, plan.tilesPerBlock) * columns();
  if (isBytes() && channels >= columns())
    blocks.emplace(b, output, ByteBlock{lanes, plan.tile.vectors}, most);
  if (isDot())
    fours.emplace(b, op.getFours());
  if (isWords())
    findLastBlocks();
}

void DepthwiseEmitter::emit(Value task) {
  Index rows = countOf(b, op.getDst(), 0, outer + 1);
  TaskRange range = rangeOf(b, task, plan.grid, rows, plan.tiles);
  if (isBytes())
    return emitBytes(range);
  emitRows(range);
}

void DepthwiseEmitter::emitRows(const TaskRange &range) {
  forEach(b, range.firstTile, range.endTile, plan.tilesPerBlock,
          [&](Value firstTile) {
    Index endTile =
        b.min(b.add(Index(firstTile), plan.tilesPerBlock), range.endTile);
    if (isBytes())
      prepareBlock(Index(firstTile), endTile);
    forEach(b, range.firstRow, range.endRow, 1, [&](Value row) {
      SmallVector<Index> at =
          coordinatesOf(b, op.getDst(), outer + 1, Index(row));
      if (isBytes())
        findSources(at);
      emitRow(at, Index(firstTile), endTile);
    });
  });
}

/// The vectors [firstTile, endTile) of channels of an output row.
void DepthwiseEmitter::emitRow(ArrayRef<Index> row, Index firstTile,
                               Index endTile) {
  if (window.dstSizes[window.inner()].value)
    return emitOpenRow(row, firstTile, endTile);
  if (isWords())
    return emitWordRow(row, firstTile, endTile);
  window.forEachTile(b, plan.tile.rows, [&](const PixelTile &pixels,
                                            Index firstPixel, Index) {
    forEachChannelTile(firstTile, endTile, pixels.size,
                       [&](Index channel, const Tile &tile) {
                         emitTile(tile, pixels, firstPixel, channel, row);
                       });
  });
}

/// Sums are computed twice then, which is as much work as a partial vector, and
/// less code. Not where another task would write the same, or where an operand
/// of the epilogue may lie in what the first of them has overwritten.
bool DepthwiseEmitter::overlapsChannels() {
  int64_t channels = output.dst.shape.back();
  // Of open rows, kernels of whole tiles are the same code but for numbers.
  bool isPartial = channels % columns() != 0,
       isOpen = bool(window.dstSizes[window.inner()].value);
  return !isBytes() && channels > columns() && (isPartial || isOpen) &&
         plan.grid.columnTilesPerTask >= plan.tiles &&
         output.mayStoreAgain();
}

void DepthwiseEmitter::forEachChannelTile(
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

void DepthwiseEmitter::emitColumns(const PixelTile &pixels, Index firstPixel,
                                   Index done, ArrayRef<Index> row,
                                   Index firstTile, Index endTile,
                                   const BorderTile *border) {
  forEachChannelTile(firstTile, endTile, pixels.size,
                     [&](Index channel, const Tile &tile) {
                       emitTile(tile.withDone(done), pixels, firstPixel,
                                channel, row, border);
                     });
}

BorderTile DepthwiseEmitter::borderAt(int64_t pixels, Index firstPixel,
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

Accumulators DepthwiseEmitter::sumTile(const Tile &tile,
                                       const PixelTile &pixels,
                                       Index firstPixel, Index channel,
                                       ArrayRef<Index> row,
                                       const BorderTile *border) {
  SmallVector<Index> srcAt = window.originOf(b, row, firstPixel);
  srcAt.push_back(channel);
  SmallVector<Index> weightsAt(outer + 1, Index(0));
  weightsAt.push_back(channel);
  return window.sumOuter(
      b, srcAt, zeroAccumulators(b, tile),
      [&](ArrayRef<Index> srcAt, ArrayRef<Index> taps,
          const Accumulators &sums) {
        llvm::copy(taps, weightsAt.begin());
        return sumRow(tile, pixels, srcAt, weightsAt, sums, border);
      });
}

/// Where src has no pixels, none is read.
Accumulators DepthwiseEmitter::sumBorder(const Tile &tile,
                                         const PixelTile &pixels,
                                         Index firstPixel, Index channel,
                                         ArrayRef<Index> row,
                                         const BorderTile &border) {
  Value hasPixels = b.compare(arith::CmpIPredicate::ne,
                              window.srcSizes[window.inner()], 0);
  return updateIf(b, hasPixels, zeroAccumulators(b, tile), [&] {
    return sumTile(tile, pixels, firstPixel, channel, row, &border);
  });
}

Value DepthwiseEmitter::waitingSums() {
  if (!waiting)
    waiting = createScratch(b, plan.tile.rows * columns(), b.b.getF32Type());
  return waiting;
}

void DepthwiseEmitter::storeBorder(const Tile &tile, const Accumulators &sums,
                                   Index firstPixel, Index channel,
                                   ArrayRef<Index> row, Index count) {
  spill(b, tile, sums, waitingSums(), 0);
  Tile one = tile.withRows(1).withDone(0);
  forEach(b, tile.done, count, 1, [&](Value pixel) {
    storeTile(b, one, output,
              reload(b, one, waitingSums(), b.mul(Index(pixel), tile.lanes)),
              [&](IndexBuilder &b, Index) {
                SmallVector<Index> coordinates(row);
                coordinates.append({b.add(firstPixel, Index(pixel)), channel});
                return coordinates;
              });
  });
}

void DepthwiseEmitter::emitTile(const Tile &tile, const PixelTile &pixels,
                                Index firstPixel, Index channel,
                                ArrayRef<Index> row, const BorderTile *border) {
  if (isDot())
    return emitDotTile(tile, pixels, firstPixel, channel, row, border);
  if (isWords())
    return emitWordTile(tile, pixels, firstPixel, channel, row, border);
  emitFloatTile(tile, pixels, firstPixel, channel, row, border);
}

void DepthwiseEmitter::emitFloatTile(const Tile &tile, const PixelTile &pixels,
                                     Index firstPixel, Index channel,
                                     ArrayRef<Index> row,
                                     const BorderTile *border) {
  Accumulators sums =
      border ? sumBorder(tile, pixels, firstPixel, channel, row, *border)
             : sumTile(tile, pixels, firstPixel, channel, row, nullptr);
  if (border)
    return storeBorder(tile, sums, firstPixel, channel, row, border->count);
  storeTile(b, tile, output, sums,
            [&](IndexBuilder &b, Index inTile) {
              SmallVector<Index> coordinates(row);
              coordinates.append({b.add(firstPixel, inTile), channel});
              return coordinates;
            });
}

Value DepthwiseEmitter::floatZeros(Type type) {
  return arith::ConstantOp::create(b.b, b.loc, b.b.getZeroAttr(type));
}

/// What is multiplied: bytes less their zero point, other numbers as they are.
Value DepthwiseEmitter::toFloats(Value pixel) {
  auto type = cast<VectorType>(pixel.getType());
  if (!type.getElementType().isInteger())
    return widenFloats(b, pixel);
  Value words = arith::ExtUIOp::create(b.b, b.loc, type.clone(b.b.getI32Type()),
                                       pixel);
  if (int64_t zero = op.getSrcZeroPoint())
    words = arith::SubIOp::create(
        b.b, b.loc, words,
        splatInt(b, cast<VectorType>(words.getType()), zero));
  return arith::SIToFPOp::create(b.b, b.loc, type.clone(b.b.getF32Type()),
                                 words);
}

/// Of each group of lanes its element `member`, in all of its lanes.
Value DepthwiseEmitter::memberOfGroups(Value pixel, int64_t member,
                                       int64_t size) {
  if (size == 1)
    return pixel;
  int64_t lanes = cast<VectorType>(pixel.getType()).getDimSize(0);
  SmallVector<int64_t> from;
  for (int64_t lane = 0; lane < lanes; ++lane)
    from.push_back(lane / size * size + member);
  return vector::ShuffleOp::create(b.b, b.loc, pixel, pixel, from);
}

/// The taps along the row.
Accumulators DepthwiseEmitter::sumRow(const Tile &tile, const PixelTile &pixels,
                                      ArrayRef<Index> srcAt,
                                      ArrayRef<Index> weightsAt,
                                      const Accumulators &start,
                                      const BorderTile *border) {
  int64_t inner = window.inner();
  Index from = src.at(b, srcAt), tapAt = weights.at(b, weightsAt);
  Index pixelStride = src.strides[src.strides.size() - 2];
  Index tapStride = weights.strides[weights.strides.size() - 2];
  DenseMap<int64_t, Value> pixelsRead;
  auto pixelAt = [&](int64_t i) {
    Value &pixel = pixelsRead[i];
    if (pixel)
      return pixel;
    Index at = border ? border->nearest[i] : Index(i);
    pixel = toFloats(
        loadPart(b, tile, src.data, b.add(from, b.mul(pixelStride, at))));
    if (border)
      pixel = arith::SelectOp::create(b.b, b.loc, border->within[i], pixel,
                                      floatZeros(pixel.getType()));
    return pixel;
  };
  Accumulators sums = start;
  int64_t groupSize = op.groupSize(), channels = src.shape.back();
  for (int64_t member = 0; member < groupSize; ++member) {
    DenseMap<int64_t, Value> members;
    auto memberAt = [&](int64_t i) {
      Value &found = members[i];
      if (!found)
        found = memberOfGroups(pixelAt(i), member, groupSize);
      return found;
    };
    for (int64_t tap = 0; tap < window.kernel[inner]; ++tap) {
      Value factor;
      for (int64_t r = 0; r < tile.rows; ++r) {
        if (!pixels.hasTap(r, tap))
          continue;
        if (!factor)
          factor = loadPart(b, tile, weights.data,
                            b.add(b.add(tapAt, b.mul(tapStride, tap)),
                                  member * channels));
        Value pixel = memberAt(r * window.strides[inner] +
                               tap * window.dilations[inner]);
        sums[r] = multiplyAddVectors(b, tile.hasFMA, pixel, factor, sums[r]);
      }
    }
  }
  return sums;
}
