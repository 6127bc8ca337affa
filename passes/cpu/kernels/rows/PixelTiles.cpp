//===- PixelTiles.cpp - windows over a row of pixels ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/kernels/rows/PixelTiles.h"

#include "llvm/Support/MathExtras.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace ingot::cpu;

bool PixelTile::isWhole() const {
  return llvm::all_of(taps, [&](std::pair<int64_t, int64_t> range) {
    return range.first == 0 && range.second == numTaps;
  });
}

std::pair<int64_t, int64_t> PixelTile::pixelsRead(int64_t stride,
                                                int64_t dilation) const {
  std::pair<int64_t, int64_t> read = {std::numeric_limits<int64_t>::max(), 0};
  for (auto [pixel, range] : llvm::enumerate(taps)) {
    if (range.first >= range.second)
      continue;
    int64_t at = int64_t(pixel) * stride;
    read.first = std::min(read.first, at + range.first * dilation);
    read.second =
        std::max(read.second, at + (range.second - 1) * dilation + 1);
  }
  return read.second == 0 ? std::pair<int64_t, int64_t>(0, 0) : read;
}

SmallVector<Index> ingot::cpu::spatialSizes(IndexBuilder &b, Value memref) {
  SmallVector<Index> sizes;
  int64_t rank = cast<MemRefType>(memref.getType()).getRank();
  for (int64_t d = 1; d < rank - 1; ++d)
    sizes.push_back(dimOf(b, memref, d));
  return sizes;
}

std::pair<Index, Index> ingot::cpu::tapsWithin(IndexBuilder &b, Index origin,
                                               Index size, const TapRow &taps) {
  const int64_t numTaps = taps.numTaps, dilation = taps.dilation;
  // Returns the smallest number of taps that reach `distance`; 0 if it is
  // negative.
  auto steps = [&](Index distance) {
    return b.div(b.add(b.max(distance, 0), dilation - 1), dilation);
  };
  Index begin = 0, end = numTaps;
  Index negated = b.mul(origin, -1);
  if (taps.crossesLow)
    begin = steps(negated);
  if (taps.crossesHigh)
    end = b.min(steps(b.add(negated, size)), numTaps);
  return {begin, end};
}

bool WindowTiling::crossesHigh(int64_t dim) const {
  // With a dynamic size, dst has as many windows as fit in src and its padding.
  // A window can then end behind src only if there is padding.
  if (srcSizes[dim].value || dstSizes[dim].value)
    return pads[kernel.size() + dim] > 0;
  int64_t highest = (dstSizes[dim].constant - 1) * strides[dim] - pads[dim];
  return highest + (kernel[dim] - 1) * dilations[dim] >= srcSizes[dim].constant;
}

PixelTile WindowTiling::wholeTile(int64_t size) const {
  int64_t numTaps = kernel[inner()];
  PixelTile tile{0, size, 1, {}, numTaps};
  tile.taps.assign(size, {0, numTaps});
  return tile;
}

/// Returns the taps [begin, end) within [0, size) of a window that starts at
/// `origin`.
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

PixelTile WindowTiling::firstTile(int64_t size) const {
  int64_t i = inner();
  PixelTile tile = wholeTile(size);
  for (auto [pixel, taps] : llvm::enumerate(tile.taps))
    taps = clip(int64_t(pixel) * strides[i] - pads[i],
                std::numeric_limits<int32_t>::max(), dilations[i], kernel[i]);
  return tile;
}

int64_t WindowTiling::span(int64_t size) const {
  int64_t i = inner();
  return (size - 1) * strides[i] + (kernel[i] - 1) * dilations[i] + 1;
}

PixelTile WindowTiling::lastTile(int64_t size, int64_t beyond) const {
  int64_t i = inner();
  PixelTile tile = wholeTile(size);
  for (auto [pixel, taps] : llvm::enumerate(tile.taps))
    taps = clip(int64_t(pixel) * strides[i], span(size) - beyond, dilations[i],
                kernel[i]);
  return tile;
}

Value WindowTiling::hasPixel(IndexBuilder &b, int64_t dim,
                             Index coordinate) const {
  // Checks both ends with one unsigned comparison: a negative coordinate is a
  // large unsigned number.
  return b.compare(arith::CmpIPredicate::ult, coordinate, srcSizes[dim]);
}

Value WindowTiling::startsWithin(IndexBuilder &b, Index origin) const {
  if (!crossesLow(inner()))
    return {};
  return b.compare(arith::CmpIPredicate::sge, origin, 0);
}

Value WindowTiling::endsWithin(IndexBuilder &b, Index origin,
                               int64_t size) const {
  int64_t i = inner();
  if (!crossesHigh(i))
    return {};
  return b.compare(arith::CmpIPredicate::sle, b.add(origin, span(size)),
                   srcSizes[i]);
}

Value WindowTiling::isWithin(IndexBuilder &b, Index origin,
                             int64_t size) const {
  Value starts = startsWithin(b, origin);
  return b.both(starts, endsWithin(b, origin, size));
}

SmallVector<Index> WindowTiling::originOf(IndexBuilder &b, ArrayRef<Index> row,
                                          Index pixel) const {
  SmallVector<Index> at = {row[0]};
  for (int64_t d = 0; d <= inner(); ++d)
    at.push_back(b.add(b.mul(d == inner() ? pixel : row[1 + d], strides[d]),
                       -pads[d]));
  return at;
}

std::pair<Index, Index> WindowTiling::tapsWithin(IndexBuilder &b, int64_t dim,
                                                 Index origin) const {
  return cpu::tapsWithin(
      b, origin, srcSizes[dim],
      {kernel[dim], dilations[dim], crossesLow(dim), crossesHigh(dim)});
}

Accumulators WindowTiling::sumOuter(
    IndexBuilder &b, SmallVector<Index> srcAt, const Accumulators &start,
    function_ref<Accumulators(ArrayRef<Index>, ArrayRef<Index>,
                              const Accumulators &)>
        sum) const {
  SmallVector<Index> taps;
  std::function<Accumulators(const Accumulators &)> sumDim =
      [&](const Accumulators &start) {
        int64_t d = taps.size();
        if (d == inner())
          return sum(srcAt, taps, start);
        Index origin = srcAt[1 + d];
        auto [begin, end] = tapsWithin(b, d, origin);
        return forEach(b, begin, end, start,
                       [&](Value tap, const Accumulators &sums) {
                         srcAt[1 + d] = b.add(
                             origin, b.mul(Index(tap), dilations[d]));
                         taps.push_back(Index(tap));
                         Accumulators next = sumDim(sums);
                         taps.pop_back();
                         return next;
                       });
      };
  return sumDim(start);
}

void WindowTiling::forEachOuterTap(
    IndexBuilder &b, function_ref<void(ArrayRef<Index>)> body) const {
  (void)sumOuterTaps(b, {}, [&](ArrayRef<Index> taps, const Accumulators &) {
    body(taps);
    return Accumulators();
  });
}

Accumulators WindowTiling::sumOuterTaps(
    IndexBuilder &b, const Accumulators &start,
    function_ref<Accumulators(ArrayRef<Index>, const Accumulators &)> sum)
    const {
  SmallVector<Index> taps;
  std::function<Accumulators(const Accumulators &)> sumDim =
      [&](const Accumulators &start) {
        if (int64_t(taps.size()) == inner())
          return sum(taps, start);
        return forEach(b, 0, kernel[taps.size()], start,
                       [&](Value tap, const Accumulators &sums) {
                         taps.push_back(Index(tap));
                         Accumulators next = sumDim(sums);
                         taps.pop_back();
                         return next;
                       });
      };
  return sumDim(start);
}

void WindowTiling::ifWithin(IndexBuilder &b, ArrayRef<Index> row,
                            ArrayRef<Index> taps,
                            function_ref<void(ArrayRef<Index>)> body) const {
  SmallVector<Index> srcRow = {row[0]};
  Value condition;
  for (auto [d, tap] : llvm::enumerate(taps)) {
    Index at = b.add(b.add(b.mul(row[1 + d], strides[d]), -pads[d]),
                     b.mul(tap, dilations[d]));
    srcRow.push_back(at);
    if (!crossesLow(d) && !crossesHigh(d))
      continue;
    condition = b.both(condition, hasPixel(b, d, at));
  }
  if (!condition)
    return body(srcRow);
  b.branch(condition, [&] { body(srcRow); });
}

int64_t WindowTiling::tilesPerRow(int64_t most) const {
  assert(!dstSizes[inner()].value && "rows of known size");
  return llvm::divideCeil(dstSizes[inner()].constant, most);
}

SmallVector<PixelTile> WindowTiling::splitRow(int64_t most) const {
  int64_t i = inner(), width = dstSizes[i].constant;
  int64_t numTiles = tilesPerRow(most);
  SmallVector<PixelTile> tiles;
  int64_t first = 0;
  for (int64_t t = 0; t < numTiles; ++t) {
    // Lets the first tiles have one pixel more if the row does not divide
    // evenly.
    int64_t size = width / numTiles + (t < width % numTiles);
    PixelTile tile{first, size, 1, {}, kernel[i]};
    for (int64_t p = 0; p < size; ++p)
      tile.taps.push_back(clip((first + p) * strides[i] - pads[i],
                               srcSizes[i].constant, dilations[i], kernel[i]));
    first += size;
    if (!tiles.empty() && tiles.back().size == size &&
        tiles.back().taps == tile.taps)
      ++tiles.back().count;
    else
      tiles.push_back(std::move(tile));
  }
  return tiles;
}

void WindowTiling::forEachTile(
    IndexBuilder &b, int64_t most,
    function_ref<void(const PixelTile &, Index, Index)> body) const {
  int64_t before = 0;
  for (const PixelTile &pixels : splitRow(most)) {
    forEach(b, 0, pixels.count, 1, [&](Value i) {
      body(pixels, b.add(b.mul(Index(i), pixels.size), pixels.first),
           b.add(Index(i), before));
    });
    before += pixels.count;
  }
}
