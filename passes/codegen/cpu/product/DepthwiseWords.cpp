//===- DepthwiseWords.cpp - single channels of bytes in pairs of words ----===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// for block of channels
//   weights of pairs of taps as words, on the stack
//   for output row, channels in up to four vectors
//     for column of pixels from the left to the right
//       for two rows each: both pixels unpacked to pairs of words, which all
//           taps along the row are multiplied with
//       of a last, single row: the pixel and the next one
//       pixels of dst that have seen their last column: epilogue, store
//
// Sums of pixels that have not seen all of their columns are carried by a loop
// over pixels, so that no column is unpacked twice, and a row takes little
// code, which stays decoded: only its ends, where some columns are missing, are
// written out. Of rows of open size the pixels of a tile are.
//
// One instruction multiplies two words and adds both products up as i32, so
// nothing saturates. Taps are paired above each other, since such a pair serves
// all taps along the row; a last row pairs its own, so that 9 taps are 5 pairs.
//
// Where src has no row, the nearest one is read, and the weights of the row are
// zeros: of such rows of dst there is a copy of the weights. Where a row has no
// pixel, it is a zero point. So what a zero point adds is always zero point
// times all of these weights, which sums start with.
//
//===----------------------------------------------------------------------===//
#include "passes/codegen/cpu/product/BytePairs.h"
#include "passes/codegen/cpu/product/DepthwiseEmitter.h"
#include "passes/support/Shapes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::codegen;

static VectorType integersOf(IndexBuilder &b, int64_t size) {
  return VectorType::get({size}, b.b.getI32Type());
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

namespace {

/// The sums of a tile's pixels, of a block of channels.
class WordSums {
public:
  WordSums(DepthwiseEmitter &emitter, const ByteBlock &block,
           const PixelTile &pixels, Index firstPixel, Index channel,
           const BorderTile *border, Index place);

  /// Goes on with the columns up to the last one of pixel `end` - 1, and hands
  /// the sums of pixels `first` and on, as f32, which holds them, to `take`,
  /// one after the other. `carried` are the sums of the pixels from `first` on
  /// that have begun before; returns those of pixels from `end` on.
  Accumulators run(int64_t first, int64_t end, const Accumulators &carried,
                   function_ref<void(int64_t, const Accumulators &)> take);

private:
  /// The bytes of row `row` of src at pixel `i` from tap 0 of the first pixel;
  /// null for zeros.
  Value loadBytes(int64_t row, int64_t i);
  /// Multiplies two pixels with pairs of weights and adds to the sums of the
  /// pixels that `pairOf` knows a pair for.
  void addPairs(int64_t firstRow, int64_t first, int64_t secondRow,
                int64_t second,
                function_ref<std::optional<int64_t>(int64_t)> pairOf);
  Value weightOf(int64_t pair, int64_t v);
  Accumulators &sumsOf(int64_t r);
  bool isThere(int64_t i) const;

  DepthwiseEmitter &emitter;
  IndexBuilder &b;
  const ConvWindow &window;
  ByteBlock block;
  const PixelTile &pixels;
  const BorderTile *border;
  int64_t stride, dilation, numTaps, reach, zeroPoint;
  SmallVector<Index> rows;
  Index weightsAt;
  SmallVector<Accumulators> sums;
};

} // namespace

WordSums::WordSums(DepthwiseEmitter &emitter, const ByteBlock &block,
                   const PixelTile &pixels, Index firstPixel, Index channel,
                   const BorderTile *border, Index place)
    : emitter(emitter), b(emitter.b), window(emitter.window), block(block),
      pixels(pixels), border(border), stride(window.strides.back()),
      dilation(window.dilations.back()), numTaps(window.kernel.back()),
      reach((numTaps - 1) * dilation),
      zeroPoint(emitter.op.getSrcZeroPoint()), sums(pixels.size) {
  Index pixel =
      b.add(b.mul(firstPixel, stride), -window.pads[window.inner()]);
  Index pixelStride = emitter.src.strides[emitter.src.strides.size() - 2];
  Index at = b.add(b.mul(pixel, pixelStride), channel);
  for (Index row : emitter.sources.starts)
    rows.push_back(b.add(row, at));
  weightsAt =
      b.add(b.mul(place, emitter.preparedVectors()), emitter.weightsOfRow);
}

Value WordSums::weightOf(int64_t pair, int64_t v) {
  Index at = b.add(weightsAt,
                   (v * emitter.preparedVectors() + pair) * block.lanes);
  return vector::LoadOp::create(b.b, b.loc, integersOf(b, block.lanes),
                                emitter.wordWeights, b.get(at));
}

Accumulators &WordSums::sumsOf(int64_t r) {
  if (sums[r].empty())
    for (int64_t v = 0; v < block.vectors; ++v)
      sums[r].push_back(zeroPoint != 0
                            ? weightOf(emitter.preparedVectors() - 1, v)
                            : splatInt(b, integersOf(b, block.lanes), 0));
  return sums[r];
}

/// Whether a row has pixel `i`, for whichever tap.
bool WordSums::isThere(int64_t i) const {
  for (int64_t r = 0; r < pixels.size; ++r)
    for (int64_t tap = 0; tap < numTaps; ++tap)
      if (r * stride + tap * dilation == i && pixels.hasTap(r, tap))
        return true;
  return false;
}

Value WordSums::loadBytes(int64_t row, int64_t i) {
  auto type = VectorType::get({block.channels()}, b.b.getI8Type());
  Value zeroPoints = splatInt(b, type, int8_t(uint8_t(zeroPoint)));
  if (!isThere(i))
    return zeroPoint != 0 ? zeroPoints : Value();
  Index pixelStride = emitter.src.strides[emitter.src.strides.size() - 2];
  Index pixel = border ? border->nearest[i] : Index(i);
  Value bytes = vector::LoadOp::create(
      b.b, b.loc, type, emitter.src.data,
      b.get(b.add(rows[row], b.mul(pixelStride, pixel))));
  if (!border)
    return bytes;
  Value within = vector::ExtractOp::create(b.b, b.loc, border->within[i],
                                           ArrayRef<int64_t>{0});
  return arith::SelectOp::create(b.b, b.loc, within, bytes, zeroPoints);
}

void WordSums::addPairs(
    int64_t firstRow, int64_t first, int64_t secondRow, int64_t second,
    function_ref<std::optional<int64_t>(int64_t)> pairOf) {
  SmallVector<std::pair<int64_t, int64_t>> met;
  for (int64_t r = 0; r < pixels.size; ++r)
    if (std::optional<int64_t> pair = pairOf(r))
      met.push_back({r, *pair});
  if (met.empty())
    return;
  Value x = loadBytes(firstRow, first), y = loadBytes(secondRow, second);
  if (!x && !y)
    return;
  SmallVector<Value> pairs = unpackPairs(b, block, x, y);
  for (int64_t v = 0; v < block.vectors; ++v)
    for (auto [r, pair] : met)
      sumsOf(r)[v] = addWords(b, pairs[v], asWords(b, weightOf(pair, v)),
                              sumsOf(r)[v]);
}

Accumulators
WordSums::run(int64_t first, int64_t end, const Accumulators &carried,
              function_ref<void(int64_t, const Accumulators &)> take) {
  int64_t above = emitter.pairsAbove(), along = emitter.pairsAlong();
  for (size_t i = 0; i < carried.size(); i += block.vectors)
    sums[first + int64_t(i) / block.vectors] =
        Accumulators(ArrayRef(carried).slice(i, block.vectors));
  int64_t begin = first == 0 && carried.empty()
                      ? 0
                      : (first - 1) * stride + reach + 1;
  for (int64_t i = begin; i <= (end - 1) * stride + reach; ++i) {
    // The tap of pixel r that meets this column.
    auto tapOf = [&](int64_t r) -> std::optional<int64_t> {
      int64_t distance = i - r * stride;
      if (distance < 0 || distance > reach || distance % dilation != 0)
        return std::nullopt;
      return distance / dilation;
    };
    int64_t last = int64_t(rows.size()) - 1;
    for (int64_t row = 2 * emitter.firstPair;
         row < std::min(2 * emitter.endPair, last); row += 2)
      addPairs(row, i, row + 1, i, [&](int64_t r) -> std::optional<int64_t> {
        std::optional<int64_t> tap = tapOf(r);
        if (!tap)
          return std::nullopt;
        return row / 2 * numTaps + *tap;
      });
    if (along != 0 && 2 * emitter.endPair > last)
      addPairs(last, i, last, i + dilation,
               [&](int64_t r) -> std::optional<int64_t> {
                 std::optional<int64_t> tap = tapOf(r);
                 if (!tap || *tap % 2 != 0)
                   return std::nullopt;
                 return above + *tap / 2;
               });
    if (i < reach || (i - reach) % stride != 0)
      continue;
    int64_t r = (i - reach) / stride;
    Accumulators floats;
    for (Value sum : sumsOf(r))
      floats.push_back(arith::SIToFPOp::create(
          b.b, b.loc, VectorType::get({block.lanes}, b.b.getF32Type()), sum));
    take(r, floats);
  }
  Accumulators rest;
  for (int64_t r = end;
       r < std::min(end + emitter.carriedPixels(), pixels.size); ++r)
    llvm::append_range(rest, sumsOf(r));
  return rest;
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

void DepthwiseEmitter::forEachWordBlock(
    const Tile &tile, Index channel,
    function_ref<void(const ByteBlock &, Index, Index, const BlockStore &)>
        emit) {
  int64_t lanes = tile.lanes;
  if (tile.columns() == columns()) {
    // Of fewer channels a loop over whole tiles never runs.
    if (blocks)
      emit({lanes, tile.vectors}, channel,
           b.add(channel, b.mul(firstWords, -1)), *blocks);
    return;
  }
  for (const LastBlock &last : lastBlocks)
    emit({lanes, last.vectors}, last.channel, last.place, last.store);
}

/// A tile of the channels behind all blocks.
static Tile floatTile(const Tile &tile, int64_t channels) {
  Tile part = tile;
  part.product = Product::f32;
  part.vectors = 1;
  part.lastLanes = channels;
  return part;
}

/// From this many pairs of rows on, those at the ends are left out where src
/// has none of their rows.
static constexpr int64_t kLeastPairsLeftOut = 3;

void DepthwiseEmitter::emitWordRow(ArrayRef<Index> row, Index firstTile,
                                   Index endTile) {
  ArrayRef<Value> areThere = sources.areThere;
  int64_t pairs = llvm::divideCeil(areThere.size(), 2);
  auto emitPairs = [&](int64_t first, int64_t end) {
    firstPair = first, endPair = end;
    emitWordRowOfPairs(row, firstTile, endTile);
  };
  auto anyOf = [&](ArrayRef<Value> rows) -> Value {
    if (!rows.front() || !rows.back())
      return {};
    return arith::OrIOp::create(b.b, b.loc, rows.front(), rows.back());
  };
  Value hasFirst = anyOf(areThere.take_front(2));
  Value hasLast = anyOf(areThere.drop_front(2 * (pairs - 1)));
  if (pairs < kLeastPairsLeftOut || !hasFirst || !hasLast)
    return emitPairs(0, pairs);
  b.branch(
      hasFirst,
      [&] {
        b.branch(hasLast, [&] { emitPairs(0, pairs); },
                 [&] { emitPairs(0, pairs - 1); });
      },
      [&] { emitPairs(1, pairs); });
}

void DepthwiseEmitter::emitWordRowOfPairs(ArrayRef<Index> row, Index firstTile,
                                          Index endTile) {
  int64_t inner = window.inner(), channels = output.dst.shape.back();
  int64_t stride = window.strides[inner], pad = window.pads[inner];
  int64_t dilation = window.dilations[inner];
  int64_t reach = (window.kernel[inner] - 1) * dilation;
  int64_t width = window.dstSizes[inner].constant;
  int64_t carried = carriedPixels();
  // The loop's pixels find all columns that the one before has not seen.
  int64_t first = std::max<int64_t>(
      1, 1 + llvm::divideCeil(std::max<int64_t>(pad - reach - 1, 0), stride));
  int64_t end = std::min(
      width - carried,
      llvm::divideFloorSigned(window.srcSizes[inner].constant - 1 - reach -
                                  dilation + pad,
                              stride) +
          1);
  // Two at a time, so that fewer sums change their registers.
  constexpr int64_t kAtOnce = 2;
  int64_t steps = std::max<int64_t>(end - first, 0) / kAtOnce;
  if (steps < 2)
    steps = 0, first = 0;
  int64_t endLoop = first + steps * kAtOnce;
  PixelTile pixels = window.splitRow(width)[0];
  PixelTile whole = window.wholeTile(kAtOnce + carried);
  auto emitBlock = [&](const ByteBlock &block, Index channel, Index place,
                       const BlockStore &store) {
    auto storeFrom = [&](Index firstPixel) {
      return [&, firstPixel](int64_t r, const Accumulators &sums) {
        SmallVector<Index> coordinates(row);
        coordinates.append({b.add(firstPixel, r), channel});
        store.store(b, sums, coordinates);
      };
    };
    WordSums ends(*this, block, pixels, 0, channel, nullptr, place);
    Accumulators sums;
    if (steps != 0) {
      sums = ends.run(0, first, {}, storeFrom(0));
      sums = forEach(
          b, 0, steps, sums, [&](Value step, const Accumulators &sums) {
            Index pixel = b.add(b.mul(Index(step), kAtOnce), first);
            WordSums words(*this, block, whole, pixel, channel, nullptr, place);
            return words.run(0, kAtOnce, sums, storeFrom(pixel));
          });
    }
    (void)ends.run(endLoop, width, sums, storeFrom(0));
  };
  Tile full = fullTile(plan.target, plan.tile);
  Tile last = lastTile(plan.target, plan.tile, channels);
  forEachColumnTile(b, firstTile, endTile, plan.tiles, full, last,
                    [&](Value channelTile, const Tile &tile) {
                      Index channel = b.mul(Index(channelTile), columns());
                      forEachWordBlock(tile, channel, emitBlock);
                      if (tile.columns() == columns() || endBlocks == channels)
                        return;
                      window.forEachTile(
                          b, plan.tile.rows,
                          [&](const PixelTile &pixels, Index firstPixel,
                              Index) {
                            emitFloatTile(floatTile(tile, channels - endBlocks)
                                              .withRows(pixels.size),
                                          pixels, firstPixel, endBlocks, row,
                                          nullptr);
                          });
                    });
}

void DepthwiseEmitter::emitWordTile(const Tile &tile, const PixelTile &pixels,
                                    Index firstPixel, Index channel,
                                    ArrayRef<Index> row,
                                    const BorderTile *border) {
  Tile part = tile;
  // As sums are stored.
  part.product = Product::f32;
  part.lastLanes = tile.lanes;
  firstPair = 0, endPair = llvm::divideCeil(sources.starts.size(), 2);
  forEachWordBlock(
      tile, channel,
      [&](const ByteBlock &block, Index channel, Index place,
          const BlockStore &store) {
        WordSums words(*this, block, pixels, firstPixel, channel, border,
                       place);
        part.vectors = block.vectors;
        Accumulators all;
        (void)words.run(0, pixels.size, {},
                        [&](int64_t, const Accumulators &sums) {
                          llvm::append_range(all, sums);
                        });
        storeWaiting(store, part, all, firstPixel, channel, row, border);
      });
  int64_t channels = output.dst.shape.back();
  if (tile.columns() != columns() && endBlocks != channels)
    emitFloatTile(floatTile(tile, channels - endBlocks), pixels, firstPixel,
                  endBlocks, row, border);
}
