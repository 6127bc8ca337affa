//===- ConvKernel.cpp - shared data of a convolution ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/kernels/conv/ConvKernel.h"
#include "passes/support/Shapes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

/// The largest number of zeros that the stack may hold.
static constexpr int64_t kMaxZeros = 16384;

SmallVector<Index> ConvKernel::weightsOf(const ColumnAt &columnAt) {
  int64_t panels = weights.shape[0] / plan.groups;
  SmallVector<Index> at = {b.add(b.mul(columnAt.group, panels),
                                 b.div(columnAt.tile, plan.tilesPerPanel))};
  at.append(outer + 2, Index(0));
  at.push_back(b.mul(b.rem(columnAt.tile, plan.tilesPerPanel),
                     plan.tile.vectors * plan.target.lanes));
  // Sets the remaining indices to the first element of a group.
  at.resize(weights.shape.size(), Index(0));
  return at;
}

Index ConvKernel::columnOf(const ColumnAt &columnAt) {
  return b.add(b.mul(columnAt.group, plan.columns / plan.groups),
               b.mul(columnAt.tile, plan.tile.vectors * plan.target.lanes));
}

Index ConvKernel::inPanel(ArrayRef<Index> taps) {
  Index at = 0;
  for (auto [tap, stride] :
       llvm::zip(taps, ArrayRef(weights.strides).drop_front()))
    at = b.add(at, b.mul(tap, stride));
  return at;
}

Index ConvKernel::numberOf(ArrayRef<Index> taps) {
  Index number = 0;
  for (auto [tap, count] : llvm::zip_equal(taps, window.kernel.drop_back()))
    number = b.add(b.mul(number, count), tap);
  return number;
}

int64_t ConvKernel::pixelsOfTask() const {
  ArrayRef<int64_t> dst = output.dst.shape;
  int64_t pixels = support::productOf(dst.drop_back());
  if (ShapedType::isDynamic(pixels))
    return pixels;
  int64_t ofRow = plan.acrossRows ? 1 : dst[outer + 1];
  return std::min(pixels, plan.grid.rowsPerTask * ofRow);
}

NextWeights ConvKernel::nextPanel(const ColumnAt &columnAt, Index pass,
                                  Index passes) {
  if (!plan.grid.prefetch)
    return {};
  const Flat &panels = packed ? *packed : weights;
  SmallVector<Index> at = {b.add(weightsOf(columnAt)[0], 1)};
  at.resize(panels.shape.size(), Index(0));
  int64_t elements = support::productOf(plan.weights.outer.drop_front()) *
                     plan.weights.depth * plan.weights.width;
  Index before = b.mul(b.rem(columnAt.tile, plan.tilesPerPanel), passes);
  return nextWeights(b, panels.data, panels.at(b, at), elements,
                     b.add(before, pass), b.mul(passes, plan.tilesPerPanel))
      .times(b, plan.weights.width / plan.panel);
}

bool ConvKernel::isContiguous() const {
  return plan.groups == 1 && window.dilations[window.inner()] == 1 &&
         !pixelStride.value && pixelStride.constant == src.shape.back() &&
         plan.weights.depth == src.shape.back();
}

bool ConvKernel::readsInPlace(const Tile &tile) const {
  return infoOf(tile.product).rows == RowForm::inPlace && channels <= kMaxZeros;
}

SrcRows ConvKernel::rowsOfTap(const Tile &tile, const PixelTile &pixels,
                              int64_t tap, Value data, Index first,
                              Index stride) {
  SrcRows rows(b, data, first, stride, tile.rows);
  for (int64_t r = 0; r < tile.rows; ++r) {
    if (pixels.hasTap(r, tap))
      continue;
    rows.at[r] = std::nullopt;
    if (op.getSrcZeroPoint() != 0) {
      rows.dataOf[r] = zeroPointPixel();
      rows.at[r] = 0;
    }
  }
  return rows;
}

/// Calls `body` for `count` pixels, beginning with the one at coordinates
/// `first` of dst. `body` gets the index of a pixel, from 0 on, and its
/// coordinates.
void ConvKernel::forEachPixel(
    ArrayRef<Index> first, Index count,
    function_ref<void(Index pixel, ArrayRef<Index> at)> body) {
  Accumulators start;
  for (Index coordinate : first)
    start.push_back(b.get(coordinate));
  (void)forEach(b, 0, count, start, [&](Value pixel, const Accumulators &at) {
    SmallVector<Index> coordinates(at.begin(), at.end());
    body(Index(pixel), coordinates);
    // Advances the coordinate of the last dimension. At its end, advances the
    // dimension before it.
    Accumulators next(at);
    Value goesOn;
    for (int64_t d = at.size() - 1; d >= 0; --d) {
      Index more = b.add(Index(at[d]), 1);
      next[d] = b.get(goesOn ? b.select(goesOn, more, Index(at[d])) : more);
      if (d == 0)
        break;
      goesOn = b.compare(arith::CmpIPredicate::eq, Index(next[d]),
                         window.dstSizes[d - 1]);
      next[d] = b.get(b.select(goesOn, 0, Index(next[d])));
    }
    return next;
  });
}

void ConvKernel::store(const Tile &tile, const Accumulators &sums,
                       const ColumnAt &columnAt, const PixelsAt &pixelsAt) {
  Index column = columnOf(columnAt);
  storeTile(
      b, tile, output, sums,
      [&](IndexBuilder &b, Index inTile) {
        SmallVector<Index> coordinates(pixelsAt.row);
        coordinates.append({b.add(pixelsAt.first, inTile), column});
        return coordinates;
      },
      compensationOf(tile, columnAt, pixelsAt.row));
}
