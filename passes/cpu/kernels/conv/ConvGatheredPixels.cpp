//===- ConvGatheredPixels.cpp - convolutions over pixels at any address ---===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/kernels/conv/ConvGatheredPixels.h"

#include "passes/cpu/policy/Thresholds.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

bool ConvGatheredPixels::isWorthIt(const Tile &tile) const {
  return conv.readsInPlace(tile) &&
         channels >= cpu::threshold::foundFewestChannels;
}

/// Fills a table on the stack with the origin of each pixel of a tile: the
/// position of its tap 0 in src. An origin consists of the spatial coordinates
/// and the offset of channel 0.
void ConvGatheredPixels::findOrigins(const Tile &tile, ArrayRef<Index> first,
                                     Index count, Index rows, Index group) {
  int64_t columns = outer + 2;
  if (!origins)
    origins = createScratch(
        b, MemRefType::get({tile.rows, columns}, b.b.getIndexType()));
  auto store = [&](Index pixel, int64_t column, Index value) {
    memref::StoreOp::create(b.b, b.loc, b.get(value), origins,
                            {b.get(pixel), b.get(column)});
  };
  conv.forEachPixel(first, rows, [&](Index pixel, ArrayRef<Index> at) {
    SmallVector<Index> srcAt = window.originOf(b, at.drop_back(), at.back());
    srcAt.push_back(b.mul(group, channels));
    store(pixel, columns - 1, src.at(b, srcAt));
    // Gives pixels behind the last one a coordinate far before src, so that all
    // their taps are in the padding.
    Value isThere = b.compare(arith::CmpIPredicate::slt, pixel, count);
    constexpr int64_t kNowhere = -(int64_t(1) << 60);
    for (int64_t d = 0; d <= outer; ++d) {
      Index coordinate = srcAt[1 + d];
      store(pixel, d,
            d == outer ? b.select(isThere, coordinate, kNowhere) : coordinate);
    }
  });
}

SrcRows ConvGatheredPixels::findPixels(const Tile &tile, ArrayRef<Index> taps,
                                       Value &isAnyWithin) {
  Value zeros = memref::CastOp::create(b.b, b.loc, src.data.getType(),
                                       conv.zeroPointPixel());
  Index tapOffset = 0;
  for (int64_t d = 0; d <= outer; ++d)
    tapOffset = b.add(tapOffset, b.mul(b.mul(taps[d], window.dilations[d]),
                                       src.strides[1 + d]));
  SrcRows rows(b, src.data, 0, 0, tile.rows);
  for (int64_t r = 0; r < tile.rows; ++r) {
    auto load = [&](int64_t column) {
      return Index(
          memref::LoadOp::create(b.b, b.loc, origins, {b.get(r), b.get(column)})
              .getResult());
    };
    Value within;
    for (int64_t d = 0; d <= outer; ++d) {
      // Skips dimensions without padding, but not the dimension of rows. Its
      // check also excludes pixels that do not exist.
      if (d != outer && !window.crossesLow(d) && !window.crossesHigh(d))
        continue;
      Index at = b.add(load(d), b.mul(taps[d], window.dilations[d]));
      within = b.both(within, window.hasPixel(b, d, at));
    }
    if (r == 0)
      isAnyWithin = within;
    else
      isAnyWithin = arith::OrIOp::create(b.b, b.loc, isAnyWithin, within);
    rows.dataOf[r] =
        arith::SelectOp::create(b.b, b.loc, within, src.data, zeros);
    rows.at[r] = b.select(within, b.add(load(outer + 1), tapOffset), 0);
  }
  return rows;
}

Accumulators ConvGatheredPixels::sumFound(const Tile &tile,
                                          const ColumnAt &columnAt,
                                          const NextWeights &next) {
  SmallVector<Index> weightsAt = conv.weightsOf(columnAt);
  auto addTap = [&](ArrayRef<Index> outerTaps, Index tap,
                    const Accumulators &sums) {
    SmallVector<Index> taps(outerTaps);
    taps.push_back(tap);
    llvm::copy(taps, weightsAt.begin() + 1);
    Value isAnyWithin;
    SrcRows rows = findPixels(tile, taps, isAnyWithin);
    auto multiply = [&] {
      return multiplyAdd(
          b, {tile, weights.data, weights.at(b, weightsAt), plan.panel}, rows,
          channels, sums, next.from(b, conv.inPanel(taps)));
    };
    // Skips taps that are in the padding for all pixels, because they add 0.
    // With a zero point, such taps add a value, so they are not skipped.
    return op.getSrcZeroPoint() == 0 ? updateIf(b, isAnyWithin, sums, multiply)
                                     : multiply();
  };
  return window.sumOuterTaps(
      b, zeroAccumulators(b, tile),
      [&](ArrayRef<Index> taps, const Accumulators &sums) {
        return forEach(b, 0, window.kernel[window.inner()], sums,
                       [&](Value tap, const Accumulators &sums) {
                         return addTap(taps, Index(tap), sums);
                       });
      });
}
