//===- DepthwiseDot.cpp - depthwise int8 in groups of four ----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Depthwise convolution of int8 by dot products of groups of four:
//
//     for block of channels, output row, pixel tile within the row
//       for 64 channels, or 16 where fewer are left
//         for pixel
//           columns of src pixels under its taps: four rows each, unpacked so
//               that the bytes of four rows lie together; a column that several
//               pixels use is unpacked once
//           sums = for tap along the row: columns[pixel, tap] * fours[tap]
//           epilogue, store
//
// If src has no row under a tap, the nearest row is read, and the weights of
// the row are zeros. If a row has no pixel under a tap, a column of zero points
// is multiplied. The zero point thus always adds itself times the sum of all
// used weights. The sums start with the negative of this value.
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/kernels/depthwise/DepthwiseDot.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

using cpu::GroupsOfFour;

static VectorType wordsOf(IndexBuilder &b, int64_t lanes) {
  return VectorType::get({lanes}, b.b.getI32Type());
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

namespace {

/// The sums of a tile's pixels for a vector, or for a block, of channels.
class DotSums {
public:
  DotSums(DepthwiseKernel &kernel, const Flat &fours, const Tile &tile,
          const TilePosition &where);

  /// Returns the sums of pixel `r` as f32, which represents them exactly.
  Accumulators sumsOf(int64_t r);

private:
  Value &weightOf(int64_t four, int64_t tap, int64_t v) {
    return weights[(four * numTaps + tap) * vectors + v];
  }
  void loadWeights(Index channel);
  void takeZeroPointOff();
  /// Returns the vectors of pixel `i` of src, one for each group of four rows.
  /// Pixels are counted from tap 0 of the tile's first pixel.
  ArrayRef<Value> columnAt(int64_t i);
  SmallVector<Value> loadColumn(int64_t i);
  Value add(Value sum, Value bytes, Value four) {
    return multiplyAddGroupsOfFour(b, bytes, four, sum);
  }

  DepthwiseKernel &kernel;
  const Flat &fours;
  IndexBuilder &b;
  const Tile &tile;
  const PixelTile &pixels;
  const BorderTile *border;
  int64_t vectors, lanes, numGroups, numTaps, zeroPoint;
  SmallVector<Index> rows;
  SmallVector<Value> weights;
  Accumulators start;
  Value zeroPoints;
  DenseMap<int64_t, SmallVector<Value>> columns;
};

} // namespace

DotSums::DotSums(DepthwiseKernel &kernel, const Flat &fours, const Tile &tile,
                 const TilePosition &where)
    : kernel(kernel), fours(fours), b(kernel.b), tile(tile),
      pixels(where.pixels), border(where.border), vectors(tile.vectors),
      lanes(tile.lanes), numGroups(kernel.sources.masks.size()),
      numTaps(kernel.window.kernel.back()),
      zeroPoint(kernel.op.getSrcZeroPoint()) {
  const WindowTiling &window = kernel.window;
  int64_t inner = window.inner();
  Index pixel = b.add(b.mul(where.firstPixel, window.strides[inner]),
                      -window.pads[inner]);
  Index stride = kernel.src.strides[kernel.src.strides.size() - 2];
  Index at = b.add(b.mul(pixel, stride), where.channel);
  for (Index row : kernel.sources.starts)
    rows.push_back(b.add(row, at));
  loadWeights(where.channel);
  start.assign(vectors, splatInt(b, wordsOf(b, lanes), 0));
  // Repeats the zero point in each byte.
  zeroPoints = splatInt(b, wordsOf(b, lanes),
                        int32_t(uint32_t(zeroPoint) * 0x01010101u));
  if (zeroPoint != 0)
    takeZeroPointOff();
}

void DotSums::loadWeights(Index channel) {
  auto bytes = VectorType::get({lanes * GroupsOfFour::kTaps}, b.b.getI8Type());
  for (int64_t four = 0; four < numGroups; ++four)
    for (int64_t tap = 0; tap < numTaps; ++tap)
      for (int64_t v = 0; v < vectors; ++v) {
        Index at = fours.at(
            b, {Index(four), Index(tap), b.add(channel, v * lanes), Index(0)});
        Value loaded =
            vector::LoadOp::create(b.b, b.loc, bytes, fours.data, b.get(at));
        Value words =
            vector::BitCastOp::create(b.b, b.loc, wordsOf(b, lanes), loaded);
        if (Value mask = kernel.sources.masks[four])
          words = arith::AndIOp::create(b.b, b.loc, words, mask);
        weights.push_back(words);
      }
}

void DotSums::takeZeroPointOff() {
  for (int64_t v = 0; v < vectors; ++v) {
    Value zero = start[v];
    for (int64_t four = 0; four < numGroups; ++four)
      for (int64_t tap = 0; tap < numTaps; ++tap)
        start[v] = add(start[v], zeroPoints, weightOf(four, tap, v));
    start[v] = arith::SubIOp::create(b.b, b.loc, zero, start[v]);
  }
}

SmallVector<Value> DotSums::loadColumn(int64_t i) {
  const Flat &src = kernel.src;
  Index stride = src.strides[src.strides.size() - 2];
  Index at = b.mul(stride, border ? border->nearest[i] : Index(i));
  SmallVector<Value> column;
  for (int64_t first = 0; first < int64_t(rows.size());
       first += GroupsOfFour::kTaps) {
    SmallVector<Value> bytes;
    for (Index row : ArrayRef(rows).drop_front(first).take_front(
             std::min<size_t>(rows.size() - first, GroupsOfFour::kTaps))) {
      Index from = b.add(row, at);
      if (vectors == 1) {
        bytes.push_back(loadPart(b, tile, src.data, from));
        continue;
      }
      auto type = VectorType::get({GroupsOfFour::kBlock}, b.b.getI8Type());
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
  const WindowTiling &window = kernel.window;
  int64_t inner = window.inner();
  Accumulators sums = start;
  for (int64_t tap = 0; tap < numTaps; ++tap) {
    bool isThere = pixels.hasTap(r, tap);
    if (!isThere && zeroPoint == 0)
      continue;
    SmallVector<Value> column(numGroups * vectors, zeroPoints);
    if (isThere)
      llvm::copy(
          columnAt(r * window.strides[inner] + tap * window.dilations[inner]),
          column.begin());
    for (int64_t four = 0; four < numGroups; ++four)
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

void DepthwiseDot::prepare(Index firstTile, Index endTile) {
  if (!kernel.blocks)
    return;
  int64_t whole = output.dst.shape.back() / kernel.columns() * kernel.columns();
  kernel.blocks->prepare(b, b.mul(firstTile, kernel.columns()),
                         b.min(b.mul(endTile, kernel.columns()), whole));
}

void DepthwiseDot::findMasks() {
  Type word = b.b.getI32Type();
  auto constant = [&](int64_t bits) -> Value {
    return arith::ConstantOp::create(
        b.b, b.loc, b.b.getIntegerAttr(word, int32_t(uint32_t(bits))));
  };
  SourceRows &sources = kernel.sources;
  ArrayRef<Value> areThere = sources.areThere;
  bool areAlways = llvm::none_of(areThere, [](Value value) { return value; });
  for (; !areThere.empty(); areThere = areThere.drop_front(std::min<size_t>(
                                areThere.size(), GroupsOfFour::kTaps))) {
    Value bits;
    for (auto [tap, isThere] :
         llvm::enumerate(areThere.take_front(GroupsOfFour::kTaps))) {
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

void DepthwiseDot::emitTile(const Tile &tile, const TilePosition &where) {
  Tile part = tile;
  // Stores sums as f32.
  part.product = Product::f32;
  if (tile.columns() == GroupsOfFour::kBlock) {
    // Emits no block if there are fewer channels than a block has.
    if (kernel.blocks)
      emitBlock(part, where);
    return;
  }
  bool isWhole = tile.lastLanes == tile.lanes;
  int64_t whole = tile.vectors - (isWhole ? 0 : 1);
  part.vectors = 1;
  part.lastLanes = tile.lanes;
  forEach(b, 0, whole, 1, [&](Value v) {
    emitVector(part, where.withChannel(
                         b.add(where.channel, b.mul(Index(v), tile.lanes))));
  });
  if (isWhole)
    return;
  part.lastLanes = tile.lastLanes;
  emitVector(part, where.withChannel(b.add(where.channel, whole * tile.lanes)));
}

void DepthwiseDot::emitVector(const Tile &tile, const TilePosition &where) {
  DotSums dot(kernel, fours, tile, where);
  auto store = [&](const Tile &tile, int64_t first, const Accumulators &sums) {
    storeTile(b, tile, output, sums, [&](IndexBuilder &b, Index inTile) {
      return where.coordinates(b, b.add(inTile, first));
    });
  };
  if (!where.border && kernel.storesByPixel(tile)) {
    for (int64_t r = 0; r < tile.rows; ++r)
      store(tile.withRows(1), r, dot.sumsOf(r));
    return;
  }
  Accumulators sums;
  for (int64_t r = 0; r < tile.rows; ++r)
    llvm::append_range(sums, dot.sumsOf(r));
  if (where.border)
    return kernel.storeBorder(tile, sums, where);
  store(tile, 0, sums);
}

void DepthwiseDot::emitBlock(const Tile &tile, const TilePosition &where) {
  DotSums dot(kernel, fours, tile, where);
  auto store = [&](Index pixel, ArrayRef<Value> sums) {
    kernel.blocks->store(b, sums, where.coordinates(b, pixel));
  };
  if (!where.border && kernel.storesByPixel(tile)) {
    for (int64_t r = 0; r < tile.rows; ++r)
      store(r, dot.sumsOf(r));
    return;
  }
  Accumulators sums;
  for (int64_t r = 0; r < tile.rows; ++r)
    llvm::append_range(sums, dot.sumsOf(r));
  kernel.storeWaiting(*kernel.blocks, tile, sums, where);
}
