//===- RowTiles.cpp - windows over a row of pixels ------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/codegen/RowTiles.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ingot::codegen;

bool RowTile::isWhole() const {
  return llvm::all_of(taps, [&](std::pair<int64_t, int64_t> range) {
    return range.first == 0 && range.second == numTaps;
  });
}

Window::Window(ArrayRef<int64_t> strides, ArrayRef<int64_t> pads,
               ArrayRef<int64_t> dilations, ArrayRef<int64_t> kernel,
               ArrayRef<int64_t> src, ArrayRef<int64_t> dst)
    : strides(strides), pads(pads), dilations(dilations), kernel(kernel),
      srcSizes(src.drop_front().drop_back()),
      dstSizes(dst.drop_front().drop_back()) {}

Index Window::countRows(IndexBuilder &b, Value dst) const {
  auto type = cast<MemRefType>(dst.getType());
  Index rows = 1;
  for (int64_t i = 0; i < type.getRank() - 2; ++i)
    rows = b.mul(rows, type.isDynamicDim(i)
                           ? Index(Value(memref::DimOp::create(b.b, b.loc, dst,
                                                               i)))
                           : Index(type.getDimSize(i)));
  return rows;
}

SmallVector<Index> Window::coordinatesOfRow(IndexBuilder &b, Index row) const {
  SmallVector<Index> reversed;
  for (int64_t d = inner() - 1; d >= 0; --d) {
    reversed.push_back(b.rem(row, dstSizes[d]));
    row = b.div(row, dstSizes[d]);
  }
  reversed.push_back(row);
  return llvm::to_vector(llvm::reverse(reversed));
}

std::pair<Index, Index> Window::tapsWithin(IndexBuilder &b, int64_t dim,
                                           Index origin) const {
  int64_t extent = (kernel[dim] - 1) * dilations[dim];
  int64_t lowest = -pads[dim];
  int64_t highest = (dstSizes[dim] - 1) * strides[dim] - pads[dim];
  // ceil(-origin / dilation) and ceil((size - origin) / dilation), both of
  // numbers that are not negative.
  Index begin = 0, end = kernel[dim];
  Index negated = b.mul(origin, -1);
  if (lowest < 0)
    begin = b.div(b.add(b.max(negated, 0), dilations[dim] - 1), dilations[dim]);
  if (highest + extent >= srcSizes[dim])
    end = b.min(b.div(b.add(b.max(b.add(negated, srcSizes[dim]), 0),
                            dilations[dim] - 1),
                      dilations[dim]),
                kernel[dim]);
  return {begin, end};
}

/// The taps [begin, end) within [0, size) of a window that starts at `origin`.
static std::pair<int64_t, int64_t> clip(int64_t origin, int64_t size,
                                        int64_t dilation, int64_t numTaps) {
  auto ceilOf = [&](int64_t distance) {
    return distance <= 0
               ? int64_t(0)
               : std::min<int64_t>(llvm::divideCeil(distance, dilation),
                                   numTaps);
  };
  int64_t begin = ceilOf(-origin), end = ceilOf(size - origin);
  return {begin, std::max(begin, end)};
}

SmallVector<RowTile> Window::splitRow(int64_t most) const {
  int64_t i = inner(), width = dstSizes[i];
  int64_t numTiles = llvm::divideCeil(width, most);
  SmallVector<RowTile> tiles;
  int64_t first = 0;
  for (int64_t t = 0; t < numTiles; ++t) {
    // The first tiles are one larger where the row does not divide evenly.
    int64_t size = width / numTiles + (t < width % numTiles);
    RowTile tile{first, size, 1, {}, kernel[i]};
    for (int64_t p = 0; p < size; ++p)
      tile.taps.push_back(clip((first + p) * strides[i] - pads[i], srcSizes[i],
                               dilations[i], kernel[i]));
    first += size;
    if (!tiles.empty() && tiles.back().size == size &&
        tiles.back().taps == tile.taps)
      ++tiles.back().count;
    else
      tiles.push_back(std::move(tile));
  }
  return tiles;
}
