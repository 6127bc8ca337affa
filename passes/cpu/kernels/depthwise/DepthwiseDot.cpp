//===- DepthwiseDot.cpp - single channels of bytes in fours ---------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// for block of channels, output row, pixel tile within the row
//   for 64 channels, or 16 where fewer are left
//     for pixel
//       columns of pixels that its taps meet: four rows each, unpacked so that
//           the bytes above each other lie together; a column that several
//           pixels meet is unpacked once
//       sums = for tap along the row: columns[pixel, tap] * fours[tap]
//       epilogue, store
//
// Where src has no row, the nearest one is read, and the weights of the row are
// zeros. Where a row has no pixel, a column of zero points is multiplied. So
// what a zero point adds is always zero point times all of these weights, which
// is taken off at first.
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/kernels/depthwise/DepthwiseEmitter.h"

#include "dialects/cpu/ByteFours.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;
using cpu::ByteFours;

/// Above so many instructions for a vector of each pixel, the epilogue of a
/// tile is a loop over its pixels.
static constexpr int64_t kMostUnrolled = 500;

static VectorType wordsOf(IndexBuilder &b, int64_t lanes) {
  return VectorType::get({lanes}, b.b.getI32Type());
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// Where src may turn out to have no pixels, none is read.
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

/// All of dst sees padding only.
void DepthwiseEmitter::emitEmpty(const TaskRange &range) {
  RegisterTile one{1, plan.tile.vectors};
  Tile full = fullTile(plan.target, one);
  Tile last = lastTile(plan.target, one, output.dst.shape.back());
  forEach(b, range.firstRow, range.endRow, 1, [&](Value row) {
    SmallVector<Index> at =
        coordinatesOf(b, op.getDst(), outer + 1, Index(row));
    forEach(b, 0, window.dstSizes[window.inner()], 1, [&](Value pixel) {
      forEachColumnTile(
          b, {range.firstTile, range.endTile, plan.tiles}, full, last,
          [&](Value channelTile, const Tile &tile) {
            storeTile(
                b, tile, output, zeroAccumulators(b, tile),
                [&](IndexBuilder &b, Index) {
                  SmallVector<Index> coordinates(at);
                  coordinates.append(
                      {Index(pixel), b.mul(Index(channelTile), columns())});
                  return coordinates;
                });
          });
    });
  });
}

void DepthwiseEmitter::prepareBlock(Index firstTile, Index endTile) {
  if (isWords())
    prepareWords(firstTile, endTile);
  else
    prepareFours(firstTile, endTile);
}

void DepthwiseEmitter::prepareFours(Index firstTile, Index endTile) {
  if (!blocks)
    return;
  int64_t whole = output.dst.shape.back() / columns() * columns();
  blocks->prepare(b, b.mul(firstTile, columns()),
                  b.min(b.mul(endTile, columns()), whole));
}

void DepthwiseEmitter::findSources(ArrayRef<Index> row) {
  sources = {};
  SmallVector<Index> origin = window.originOf(b, row, 0);
  SmallVector<Index> at(origin.size() + 1, Index(0));
  at[0] = origin[0];
  std::function<void(int64_t, Value)> goThrough = [&](int64_t d,
                                                      Value isThere) {
    if (d == outer) {
      sources.starts.push_back(src.at(b, at));
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
  if (isWords())
    maskWeights();
  else
    findMasks();
}

void DepthwiseEmitter::findMasks() {
  Type word = b.b.getI32Type();
  auto constant = [&](int64_t bits) -> Value {
    return arith::ConstantOp::create(
        b.b, b.loc, b.b.getIntegerAttr(word, int32_t(uint32_t(bits))));
  };
  ArrayRef<Value> areThere = sources.areThere;
  bool areAlways = llvm::none_of(areThere, [](Value value) { return value; });
  for (; !areThere.empty(); areThere = areThere.drop_front(
                                std::min<size_t>(areThere.size(),
                                                 ByteFours::kTaps))) {
    Value bits;
    for (auto [tap, isThere] :
         llvm::enumerate(areThere.take_front(ByteFours::kTaps))) {
      Value byte = constant(int64_t(0xff) << (8 * tap));
      if (isThere)
        byte = arith::SelectOp::create(b.b, b.loc, isThere, byte, constant(0));
      bits = bits ? arith::OrIOp::create(b.b, b.loc, bits, byte).getResult()
                  : byte;
    }
    sources.masks.push_back(
        areAlways ? Value()
                  : vector::BroadcastOp::create(
                        b.b, b.loc, wordsOf(b, plan.target.lanes), bits)
                        .getResult());
  }
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

namespace {

/// The sums of a tile's pixels, of a vector or a block of channels.
class DotSums {
public:
  DotSums(DepthwiseEmitter &emitter, const Tile &tile, const PixelTile &pixels,
          Index firstPixel, Index channel, const BorderTile *border);

  /// Of pixel `r`, as f32, which holds them.
  Accumulators sumsOf(int64_t r);

private:
  Value &weightOf(int64_t four, int64_t tap, int64_t v) {
    return weights[(four * numTaps + tap) * vectors + v];
  }
  void loadWeights(Index channel);
  void takeZeroPointOff();
  /// For each four, the vectors of pixel `i` of src from tap 0 of the first.
  ArrayRef<Value> columnAt(int64_t i);
  SmallVector<Value> loadColumn(int64_t i);
  Value add(Value sum, Value bytes, Value four) {
    return multiplyAddFours(b, bytes, four, sum);
  }

  DepthwiseEmitter &emitter;
  IndexBuilder &b;
  const Tile &tile;
  const PixelTile &pixels;
  const BorderTile *border;
  int64_t vectors, lanes, numFours, numTaps, zeroPoint;
  SmallVector<Index> rows;
  SmallVector<Value> weights;
  Accumulators start;
  Value zeroPoints;
  DenseMap<int64_t, SmallVector<Value>> columns;
};

} // namespace

DotSums::DotSums(DepthwiseEmitter &emitter, const Tile &tile,
                 const PixelTile &pixels, Index firstPixel, Index channel,
                 const BorderTile *border)
    : emitter(emitter), b(emitter.b), tile(tile), pixels(pixels),
      border(border), vectors(tile.vectors), lanes(tile.lanes),
      numFours(emitter.sources.masks.size()),
      numTaps(emitter.window.kernel.back()),
      zeroPoint(emitter.op.getSrcZeroPoint()) {
  const ConvWindow &window = emitter.window;
  int64_t inner = window.inner();
  Index pixel =
      b.add(b.mul(firstPixel, window.strides[inner]), -window.pads[inner]);
  Index stride = emitter.src.strides[emitter.src.strides.size() - 2];
  Index at = b.add(b.mul(pixel, stride), channel);
  for (Index row : emitter.sources.starts)
    rows.push_back(b.add(row, at));
  loadWeights(channel);
  start.assign(vectors, splatInt(b, wordsOf(b, lanes), 0));
  // In each byte.
  zeroPoints = splatInt(b, wordsOf(b, lanes),
                        int32_t(uint32_t(zeroPoint) * 0x01010101u));
  if (zeroPoint != 0)
    takeZeroPointOff();
}

void DotSums::loadWeights(Index channel) {
  const Flat &fours = *emitter.fours;
  auto bytes = VectorType::get({lanes * ByteFours::kTaps}, b.b.getI8Type());
  for (int64_t four = 0; four < numFours; ++four)
    for (int64_t tap = 0; tap < numTaps; ++tap)
      for (int64_t v = 0; v < vectors; ++v) {
        Index at = fours.at(
            b, {Index(four), Index(tap), b.add(channel, v * lanes), Index(0)});
        Value loaded =
            vector::LoadOp::create(b.b, b.loc, bytes, fours.data, b.get(at));
        Value words =
            vector::BitCastOp::create(b.b, b.loc, wordsOf(b, lanes), loaded);
        if (Value mask = emitter.sources.masks[four])
          words = arith::AndIOp::create(b.b, b.loc, words, mask);
        weights.push_back(words);
      }
}

void DotSums::takeZeroPointOff() {
  for (int64_t v = 0; v < vectors; ++v) {
    Value zero = start[v];
    for (int64_t four = 0; four < numFours; ++four)
      for (int64_t tap = 0; tap < numTaps; ++tap)
        start[v] = add(start[v], zeroPoints, weightOf(four, tap, v));
    start[v] = arith::SubIOp::create(b.b, b.loc, zero, start[v]);
  }
}

SmallVector<Value> DotSums::loadColumn(int64_t i) {
  const Flat &src = emitter.src;
  Index stride = src.strides[src.strides.size() - 2];
  Index at = b.mul(stride, border ? border->nearest[i] : Index(i));
  SmallVector<Value> column;
  for (int64_t first = 0; first < int64_t(rows.size());
       first += ByteFours::kTaps) {
    SmallVector<Value> bytes;
    for (Index row : ArrayRef(rows).drop_front(first).take_front(
             std::min<size_t>(rows.size() - first, ByteFours::kTaps))) {
      Index from = b.add(row, at);
      if (vectors == 1) {
        bytes.push_back(loadPart(b, tile, src.data, from));
        continue;
      }
      auto type = VectorType::get({ByteFours::kBlock}, b.b.getI8Type());
      bytes.push_back(
          vector::LoadOp::create(b.b, b.loc, type, src.data, b.get(from)));
    }
    if (vectors == 1)
      column.push_back(unpackVector(b, bytes));
    else
      llvm::append_range(column, unpackBlock(b, bytes));
  }
  if (border)
    for (Value &vector : column)
      vector = arith::SelectOp::create(b.b, b.loc, border->within[i], vector,
                                       zeroPoints);
  return column;
}

ArrayRef<Value> DotSums::columnAt(int64_t i) {
  SmallVector<Value> &column = columns[i];
  if (column.empty())
    column = loadColumn(i);
  return column;
}

Accumulators DotSums::sumsOf(int64_t r) {
  const ConvWindow &window = emitter.window;
  int64_t inner = window.inner();
  Accumulators sums = start;
  for (int64_t tap = 0; tap < numTaps; ++tap) {
    bool isThere = pixels.hasTap(r, tap);
    if (!isThere && zeroPoint == 0)
      continue;
    SmallVector<Value> column(numFours * vectors, zeroPoints);
    if (isThere)
      llvm::copy(
          columnAt(r * window.strides[inner] + tap * window.dilations[inner]),
          column.begin());
    for (int64_t four = 0; four < numFours; ++four)
      for (int64_t v = 0; v < vectors; ++v)
        sums[v] =
            add(sums[v], column[four * vectors + v], weightOf(four, tap, v));
  }
  for (Value &sum : sums)
    sum = arith::SIToFPOp::create(
        b.b, b.loc, VectorType::get({lanes}, b.b.getF32Type()), sum);
  return sums;
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

void DepthwiseEmitter::emitDotTile(const Tile &tile, const PixelTile &pixels,
                                   Index firstPixel, Index channel,
                                   ArrayRef<Index> row,
                                   const BorderTile *border) {
  Tile part = tile;
  // As sums are stored.
  part.product = Product::f32;
  if (tile.columns() == ByteFours::kBlock) {
    // Of fewer channels a loop over whole blocks never runs.
    if (blocks)
      emitDotBlock(part, pixels, firstPixel, channel, row, border);
    return;
  }
  bool isWhole = tile.lastLanes == tile.lanes;
  int64_t whole = tile.vectors - (isWhole ? 0 : 1);
  part.vectors = 1;
  part.lastLanes = tile.lanes;
  forEach(b, 0, whole, 1, [&](Value v) {
    emitDotVector(part, pixels, firstPixel,
                  b.add(channel, b.mul(Index(v), tile.lanes)), row, border);
  });
  if (isWhole)
    return;
  part.lastLanes = tile.lastLanes;
  emitDotVector(part, pixels, firstPixel, b.add(channel, whole * tile.lanes),
                row, border);
}

bool DepthwiseEmitter::storesByPixel(const Tile &tile) {
  return !tile.isPart() && epilogueCost(op) * tile.rows <= kMostUnrolled;
}

void DepthwiseEmitter::emitDotVector(const Tile &tile, const PixelTile &pixels,
                                     Index firstPixel, Index channel,
                                     ArrayRef<Index> row,
                                     const BorderTile *border) {
  DotSums dot(*this, tile, pixels, firstPixel, channel, border);
  auto store = [&](const Tile &tile, int64_t first, const Accumulators &sums) {
    storeTile(b, tile, output, sums, [&](IndexBuilder &b, Index inTile) {
      SmallVector<Index> coordinates(row);
      coordinates.append({b.add(b.add(firstPixel, first), inTile), channel});
      return coordinates;
    });
  };
  if (!border && storesByPixel(tile)) {
    for (int64_t r = 0; r < tile.rows; ++r)
      store(tile.withRows(1), r, dot.sumsOf(r));
    return;
  }
  Accumulators sums;
  for (int64_t r = 0; r < tile.rows; ++r)
    llvm::append_range(sums, dot.sumsOf(r));
  if (border)
    return storeBorder(tile, sums, firstPixel, channel, row, border->count);
  store(tile, 0, sums);
}

void DepthwiseEmitter::emitDotBlock(const Tile &tile, const PixelTile &pixels,
                                    Index firstPixel, Index channel,
                                    ArrayRef<Index> row,
                                    const BorderTile *border) {
  DotSums dot(*this, tile, pixels, firstPixel, channel, border);
  auto store = [&](Index pixel, ArrayRef<Value> sums) {
    SmallVector<Index> coordinates(row);
    coordinates.append({b.add(firstPixel, pixel), channel});
    blocks->store(b, sums, coordinates);
  };
  if (!border && storesByPixel(tile)) {
    for (int64_t r = 0; r < tile.rows; ++r)
      store(r, dot.sumsOf(r));
    return;
  }
  Accumulators sums;
  for (int64_t r = 0; r < tile.rows; ++r)
    llvm::append_range(sums, dot.sumsOf(r));
  storeWaiting(*blocks, tile, sums, firstPixel, channel, row, border);
}

void DepthwiseEmitter::storeWaiting(const BlockStore &store, const Tile &tile,
                                    const Accumulators &sums, Index firstPixel,
                                    Index channel, ArrayRef<Index> row,
                                    const BorderTile *border) {
  spill(b, tile, sums, waitingSums(), 0);
  Index end = border ? border->count : Index(tile.rows);
  forEach(b, tile.done, end, 1, [&](Value pixel) {
    SmallVector<Index> coordinates(row);
    coordinates.append({b.add(firstPixel, Index(pixel)), channel});
    store.store(b,
                reload(b, tile.withRows(1), waitingSums(),
                       b.mul(Index(pixel), tile.vectors * tile.lanes)),
                coordinates);
  });
}
