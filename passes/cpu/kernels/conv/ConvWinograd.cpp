//===- ConvWinograd.cpp - Winograd convolutions of int8 -------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Winograd convolution in integers, for CPUs without VNNI. Pixels minus their
// zero point become int16, as do weights. The even and the odd bytes of each
// group of four channels are stored apart, because `vpmaddwd` multiplies pairs
// of int16. Weights are transformed at run time, so that one copy in the model
// serves all CPU levels. The transform costs as much as multiplying by a few
// tiles. With many channels, a block of them is transformed at a time, and its
// products are added to the sums.
//
// Transformed pixels are at most 100 * 255 in magnitude, transformed weights 49
// * 128, so both fit in int16. Sums are correct modulo 2^32, which
// `cpu-prove-winograd` has shown to be enough.
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/kernels/conv/ConvWinograd.h"

#include "passes/cpu/isa/amx/AmxTiles.h"
#include "passes/cpu/kernels/winograd/WinogradEmitter.h"
#include "passes/cpu/products/PairProducts.h"

#include "llvm/Support/MathExtras.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

namespace {

class Emitter : public WinogradEmitter {
public:
  Emitter(OpBuilder &builder, cpu::ConvOp op)
      : WinogradEmitter(builder, op, WinogradPlan(op),
                        {op.getSrc(), op.getPads(), builder.getI32Type(),
                         cpu::PackedWeights(op.getWeights()).depth / 2}),
        weights(b, op.getWeights()), groups(plan.weights.depth / 4),
        zeroPoint(op.getSrcZeroPoint()),
        words(createScratch(b, 2 * plan.transform.positions() * wordsOfPoint(),
                            builder.getI16Type())) {}

private:
  void forEachLoad(function_ref<void(LoadFn load)> body) override;
  Value makePadding() override;
  Value unpack(Value kept) override { return asInt16(b, kept); }
  Value pack(Value numbers) override;
  void multiply(const Tile &tile, Index columnTile, Index rowTiles) override;
  Value finish(Value sum) override;

  /// Loads the even and the odd bytes of `size` groups, beginning with group
  /// `first`, of the pixel at `data[at]`.
  SmallVector<ChannelSlice> loadGroups(Value data, Index at, Index first,
                                       int64_t size);
  /// Transforms the weights of `size` groups, beginning with `first`, and
  /// multiplies them. Adds the products to the sums, or stores them if
  /// `isFirst`.
  void multiplyBlock(const Tile &tile, Index columnTile, Index rowTiles,
                     Index first, int64_t size, bool isFirst);
  void transformWeights(const Tile &tile, Index at, Index to);
  /// Returns the number of int16 between the weights of two points, either of
  /// even or of odd bytes.
  int64_t wordsOfPoint() const {
    return 2 * cpu::Winograd::distance(plan.depthBlock * tileColumns());
  }
  Index wordsAt(Index point) { return b.mul(point, wordsOfPoint()); }

  Flat weights;
  int64_t groups, zeroPoint;
  /// The transformed weights of a block at each point, in the layout of
  /// `Int16Weights`.
  Value words;
};

} // namespace

void cpu::emitWinograd(OpBuilder &builder, cpu::ConvOp op, Value task) {
  Emitter(builder, op).emit(task);
}

//===----------------------------------------------------------------------===//
// Pixels
//===----------------------------------------------------------------------===//

Value Emitter::pack(Value numbers) {
  int64_t size = cast<VectorType>(numbers.getType()).getNumElements() / 2;
  return vector::BitCastOp::create(
      b.b, b.loc, VectorType::get({size}, b.b.getI32Type()), numbers);
}

Value Emitter::makePadding() {
  Type byte = b.b.getI8Type();
  int64_t size = llvm::alignTo(plan.weights.depth, amxRowElements(byte));
  Value padding = createScratch(b, size, byte);
  fillRun(b, padding, 0, size, zeroPoint);
  return padding;
}

auto Emitter::loadGroups(Value data, Index at, Index first, int64_t size)
    -> SmallVector<ChannelSlice> {
  Value bytes = vector::LoadOp::create(
      b.b, b.loc, VectorType::get({4 * size}, b.b.getI8Type()), data,
      b.get(b.add(at, b.mul(first, 4))));
  auto type = VectorType::get({2 * size}, b.b.getI16Type());
  Value pairs = vector::BitCastOp::create(b.b, b.loc, type, bytes);
  auto lessZeroPoint = [&](Value words) -> Value {
    if (zeroPoint == 0)
      return words;
    return arith::SubIOp::create(b.b, b.loc, words,
                                 splatInt(b, type, zeroPoint));
  };
  Value even =
      arith::AndIOp::create(b.b, b.loc, pairs, splatInt(b, type, 0xff));
  Value odd =
      arith::ShRUIOp::create(b.b, b.loc, pairs, splatInt(b, type, 8));
  return {{lessZeroPoint(even), first},
          {lessZeroPoint(odd), b.add(first, groups)}};
}

// Loads the rest in vectors of decreasing size, so that nothing behind the
// pixel is read.
void Emitter::forEachLoad(function_ref<void(LoadFn load)> body) {
  int64_t lanes = plan.target.lanes, done = groups / lanes * lanes;
  auto loadFrom = [&](Index first, int64_t size) {
    body([&](Value data, Index at) {
      return loadGroups(data, at, first, size);
    });
  };
  forEach(b, 0, done, lanes,
          [&](Value first) { loadFrom(Index(first), lanes); });
  for (int64_t size = lanes / 2; size > 0; size /= 2)
    if (groups - done >= size) {
      loadFrom(done, size);
      done += size;
    }
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

void Emitter::multiply(const Tile &tile, Index columnTile, Index rowTiles) {
  int64_t size = std::min(plan.depthBlock, groups);
  multiplyBlock(tile, columnTile, rowTiles, 0, size, /*isFirst=*/true);
  int64_t others = (groups - size) / size, rest = groups - size * (1 + others);
  forEach(b, 0, others, 1, [&](Value block) {
    multiplyBlock(tile, columnTile, rowTiles,
                  b.mul(b.add(Index(block), 1), size), size,
                  /*isFirst=*/false);
  });
  if (rest != 0)
    multiplyBlock(tile, columnTile, rowTiles, groups - rest, rest,
                  /*isFirst=*/false);
}

void Emitter::multiplyBlock(const Tile &tile, Index columnTile, Index rowTiles,
                            Index first, int64_t size, bool isFirst) {
  Index panel = b.div(columnTile, plan.tilesPerPanel);
  Index column = b.mul(b.rem(columnTile, plan.tilesPerPanel), tileColumns());
  int64_t width = tile.vectors * tile.lanes;
  forEach(b, 0, size, 1, [&](Value group) {
    transformWeights(
        tile,
        weights.at(b, {panel, 0, 0, b.add(first, Index(group)), column, 0}),
        b.mul(Index(group), 2 * width));
  });
  forEach(b, 0, plan.transform.positions(), 1, [&](Value point) {
    forEach(b, 0, rowTiles, 1, [&](Value number) {
      Index row = b.mul(Index(number), tile.rows);
      SrcRows rows(b, pixels, b.add(pixelsAt(Index(point), row), first), pitch,
                   tile.rows);
      rows.odd = groups;
      Accumulators before = isFirst ? zeroAccumulators(b, tile)
                                    : loadSums(tile, Index(point), row);
      storeSums(tile, Index(point), row,
                multiplyAdd(b, {tile, words, wordsAt(Index(point)), width / 2},
                            rows, 4 * size, before));
    });
  });
}

/// Transforms the weights of a group, which begin at `weights[at]`.
void Emitter::transformWeights(const Tile &tile, Index at, Index to) {
  constexpr int64_t kTaps = cpu::Winograd::kTaps;
  int64_t bytes = tile.lanes * 4;
  auto type = VectorType::get({bytes}, b.b.getI8Type());
  auto toPoints = [&](ArrayRef<Value> taps) {
    return WinogradEmitter::toPoints(taps, [&](int64_t point, int64_t k) {
      return plan.transform.filter(point, k);
    });
  };
  forEach(b, 0, tile.vectors, 1, [&](Value v) {
    SmallVector<Value> loaded;
    for (int64_t tap = 0; tap < kTaps * kTaps; ++tap) {
      Index tapAt = b.add(weights.at(b, {0, tap / kTaps, tap % kTaps, 0, 0, 0}),
                          b.mul(Index(v), bytes));
      loaded.push_back(vector::LoadOp::create(b.b, b.loc, type, weights.data,
                                              b.get(b.add(at, tapAt))));
    }
    for (int64_t i = 0; i < 2; ++i) {
      // Transforms columns of taps first, then rows of points.
      SmallVector<SmallVector<Value>> columns;
      for (int64_t x = 0; x < kTaps; ++x) {
        SmallVector<Value> taps;
        for (int64_t y = 0; y < kTaps; ++y)
          taps.push_back(widenBytes(b, loaded[y * kTaps + x], i));
        columns.push_back(toPoints(taps));
      }
      Index place = b.add(b.add(to, b.mul(Index(v), bytes / 2)),
                          i * Int16Weights::oddAt(words));
      for (int64_t y = 0; y < points; ++y) {
        SmallVector<Value> taps;
        for (const auto &column : columns)
          taps.push_back(column[y]);
        for (auto [x, value] : llvm::enumerate(toPoints(taps)))
          store(value, words,
                b.add(place, wordsAt(y * points + int64_t(x))));
      }
    }
  });
}

Value Emitter::finish(Value sum) {
  auto type = cast<VectorType>(sum.getType());
  if (uint32_t inverse = plan.transform.inverse(); inverse != 1)
    sum = arith::MulIOp::create(b.b, b.loc, sum,
                                splatInt(b, type, int32_t(inverse)));
  return arith::ShRSIOp::create(
      b.b, b.loc, sum, splatInt(b, type, plan.transform.lostBits()));
}
