//===- DepthwiseFloats.cpp - depthwise sums in f32 ------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/kernels/depthwise/DepthwiseFloats.h"

#include "passes/cpu/policy/Scratch.h"
#include "passes/support/Shapes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

Value DepthwiseFloats::loadWeights(const Tile &tile, const Flat &from,
                                   Index at) {
  Value loaded = loadPart(b, tile, from.data, at);
  auto type = cast<VectorType>(loaded.getType());
  if (!type.getElementType().isInteger())
    return loaded;
  return arith::SIToFPOp::create(
      b.b, b.loc, type.clone(b.b.getF32Type()),
      arith::ExtSIOp::create(b.b, b.loc, type.clone(b.b.getI32Type()), loaded));
}

void DepthwiseFloats::prepare(Index firstTile, Index endTile) {
  const int64_t taps = support::productOf(window.kernel),
                channels = output.dst.shape.back(), columns = kernel.columns();
  // Has room for one tile more, because the last tile may overlap the one
  // before.
  const int64_t places =
      (std::min(plan.tiles, plan.tilesPerBlock) + 1) * columns;
  if (!cast<MemRefType>(weights.data.getType()).getElementType().isInteger() ||
      taps * places * int64_t(sizeof(float)) > kMaxScratchBytes / 4)
    return;
  if (!prepared) {
    prepared = weights;
    prepared->data = createScratch(b, taps * places, b.b.getF32Type());
    int64_t stride = places;
    for (int64_t d = int64_t(window.kernel.size()) - 1; d >= 0; --d) {
      prepared->strides[d] = stride;
      stride *= window.kernel[d];
    }
  }
  firstPrepared = b.min(b.mul(firstTile, columns),
                        std::max<int64_t>(channels - columns, 0));
  const int64_t tapStride = weights.strides[window.kernel.size() - 1].constant;
  kernel.forEachChannelTile(
      firstTile, endTile, 1, [&](Index channel, const Tile &tile) {
        forEach(b, 0, taps, 1, [&](Value tap) {
          Value factors = loadWeights(
              tile, weights, b.add(b.mul(Index(tap), tapStride), channel));
          Index to =
              b.add(b.mul(Index(tap), places), b.sub(channel, firstPrepared));
          vector::StoreOp::create(b.b, b.loc, factors, prepared->data,
                                  b.get(to));
        });
      });
}

Accumulators DepthwiseFloats::sumTile(const Tile &tile,
                                      const TilePosition &where) {
  SmallVector<Index> srcAt = window.originOf(b, where.row, where.firstPixel);
  srcAt.push_back(where.channel);
  SmallVector<Index> weightsAt(outer + 1, Index(0));
  weightsAt.push_back(prepared ? b.sub(where.channel, firstPrepared)
                               : where.channel);
  return window.sumOuter(b, srcAt, zeroAccumulators(b, tile),
                         [&](ArrayRef<Index> srcAt, ArrayRef<Index> taps,
                             const Accumulators &sums) {
                           llvm::copy(taps, weightsAt.begin());
                           return sumRow(tile, where, srcAt, weightsAt, sums);
                         });
}

/// Emits a border tile. At run time, src may have no pixels; the sums are then
/// 0.
Accumulators DepthwiseFloats::sumBorder(const Tile &tile,
                                        const TilePosition &where) {
  Value hasPixels =
      b.compare(arith::CmpIPredicate::ne, window.srcSizes[window.inner()], 0);
  return updateIf(b, hasPixels, zeroAccumulators(b, tile),
                  [&] { return sumTile(tile, where); });
}

void DepthwiseFloats::emitTile(const Tile &tile, const TilePosition &where) {
  Accumulators sums =
      where.border ? sumBorder(tile, where) : sumTile(tile, where);
  if (where.border)
    return kernel.storeBorder(tile, sums, where);
  storeTile(b, tile, output, sums, [&](IndexBuilder &b, Index inTile) {
    return where.coordinates(b, inTile);
  });
}

Value DepthwiseFloats::floatZeros(Type type) {
  return arith::ConstantOp::create(b.b, b.loc, b.b.getZeroAttr(type));
}

/// Returns the floats to multiply: bytes minus their zero point, or floats as
/// they are.
Value DepthwiseFloats::toFloats(Value pixel) {
  auto type = cast<VectorType>(pixel.getType());
  if (!type.getElementType().isInteger())
    return widenFloats(b, pixel);
  Value words =
      arith::ExtUIOp::create(b.b, b.loc, type.clone(b.b.getI32Type()), pixel);
  if (int64_t zero = op.getSrcZeroPoint())
    words = arith::SubIOp::create(
        b.b, b.loc, words,
        splatInt(b, cast<VectorType>(words.getType()), zero));
  return arith::SIToFPOp::create(b.b, b.loc, type.clone(b.b.getF32Type()),
                                 words);
}

/// Repeats element `member` of each group of lanes in all lanes of the group.
Value DepthwiseFloats::memberOfGroups(Value pixel, int64_t member,
                                      int64_t size) {
  if (size == 1)
    return pixel;
  int64_t lanes = cast<VectorType>(pixel.getType()).getDimSize(0);
  SmallVector<int64_t> from;
  for (int64_t lane = 0; lane < lanes; ++lane)
    from.push_back(lane / size * size + member);
  return vector::ShuffleOp::create(b.b, b.loc, pixel, pixel, from);
}

/// Adds the taps along the row.
Accumulators DepthwiseFloats::sumRow(const Tile &tile,
                                     const TilePosition &where,
                                     ArrayRef<Index> srcAt,
                                     ArrayRef<Index> weightsAt,
                                     const Accumulators &start) {
  int64_t inner = window.inner();
  const Flat &factors = prepared ? *prepared : weights;
  Index from = src.at(b, srcAt), tapAt = factors.at(b, weightsAt);
  Index pixelStride = src.strides[src.strides.size() - 2];
  Index tapStride = factors.strides[factors.strides.size() - 2];
  DenseMap<int64_t, Value> pixelsRead;
  auto pixelAt = [&](int64_t i) {
    Value &pixel = pixelsRead[i];
    if (pixel)
      return pixel;
    Index at = where.border ? where.border->nearest[i] : Index(i);
    pixel = toFloats(
        loadPart(b, tile, src.data, b.add(from, b.mul(pixelStride, at))));
    if (where.border)
      pixel = arith::SelectOp::create(b.b, b.loc, where.border->within[i],
                                      pixel, floatZeros(pixel.getType()));
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
        if (!where.pixels.hasTap(r, tap))
          continue;
        if (!factor)
          factor = loadWeights(
              tile, factors,
              b.add(b.add(tapAt, b.mul(tapStride, tap)), member * channels));
        Value pixel =
            memberAt(r * window.strides[inner] + tap * window.dilations[inner]);
        sums[r] = multiplyAddVectors(b, tile.hasFMA, pixel, factor, sums[r]);
      }
    }
  }
  return sums;
}
