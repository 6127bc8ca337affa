//===- ConvOpenRows.cpp - convolutions over rows of open size -------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Convolution with rows of open size, one row at a time. Tiles could go across
// rows instead (ConvAcrossRows.cpp). In grouped convolutions, however, the taps
// of a row are not contiguous in src. Copying them costs as much as multiplying
// them.
//
//     for row, its pixels of the task
//       for tile of 14 pixels, or of 10, 7, 4 if these are enough
//         for taps: accumulators += src[pixel, k] * weights[k, column]
//         epilogue, store
//
// Only the first pixels of a tile may have taps before src, and only the last
// pixels may have taps behind it. Code for these pixels checks each tap at run
// time, and reads zeros (zero points) if src has no such pixel. The last tile
// of a row may have more pixels than remain; the surplus pixels are not stored.
// There are only a few sizes of tiles, because each size costs compile time.
//===----------------------------------------------------------------------===//
#include "passes/cpu/kernels/conv/ConvOpenRows.h"

#include "passes/cpu/kernels/RowTiling.h"
#include "passes/cpu/policy/Thresholds.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <functional>

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

/// Returns the sizes of tiles, the largest first, or none if there is no code
/// for tiles of `rows` pixels.
static RowTiling tilingOf(int64_t rows) {
  if (rows == cpu::threshold::openRowsTile)
    return RowTiling({rows, cpu::threshold::openRowsHigh,
                      cpu::threshold::openRowsMiddle,
                      cpu::threshold::openRowsLow});
  if (rows == cpu::threshold::openRowsTileOfFew)
    return RowTiling({rows, cpu::threshold::openRowsHighOfFew,
                      cpu::threshold::openRowsLowOfFew});
  return RowTiling(ArrayRef<int64_t>());
}

/// Returns the pixels of a tile that may have a tap beyond src. If `tap` is
/// given, only that tap counts.
static SmallVector<bool>
rowsToCheck(const WindowTiling &window, int64_t size, int64_t rows,
            std::optional<int64_t> tap = std::nullopt) {
  int64_t i = window.inner();
  int64_t beyond = std::max<int64_t>(window.pads[window.kernel.size() + i], 0) +
                   tilingOf(rows).mostBeyond(size) * window.strides[i];
  PixelTile first = window.firstTile(size);
  PixelTile last = window.lastTile(size, beyond);
  SmallVector<bool> needsCheck;
  for (auto [before, behind] : llvm::zip_equal(first.taps, last.taps))
    needsCheck.push_back(before.first > tap.value_or(0) ||
                         behind.second <= tap.value_or(window.kernel[i] - 1));
  return needsCheck;
}

bool ConvOpenRows::areWorthIt(const Tile &tile) {
  if (!plan.acrossRows || plan.groups == 1 || !conv.readsInPlace(tile) ||
      tilingOf(tile.rows).empty())
    return false;
  return window.dstSizes[window.inner()].value &&
         llvm::count(rowsToCheck(window, tile.rows, tile.rows), true) <=
             cpu::threshold::openRowsAsking;
}

/// Adds the taps of a row of src for the pixels of a row.
Accumulators ConvOpenRows::sumRow(const Tile &tile, ArrayRef<Index> srcAt,
                                  ArrayRef<Index> weightsAt,
                                  const Accumulators &start,
                                  const NextWeights &next) {
  int64_t i = window.inner(), stride = window.strides[i];
  int64_t tapSize = plan.weights.depth * plan.panel;
  auto addTap = [&](Index tap, ArrayRef<bool> needsCheck,
                    const Accumulators &sums) {
    Index tapAt = b.mul(tap, tapSize);
    SmallVector<Index> at(srcAt);
    Index &origin = at[1 + i];
    origin = b.add(origin, b.mul(tap, window.dilations[i]));
    SrcRows rows(b, src.data, src.at(b, at), b.mul(pixelStride, stride),
                 tile.rows);
    for (int64_t r = 0; r < tile.rows; ++r)
      if (needsCheck[r])
        askFor(rows, r, b.add(origin, r * stride));
    return multiplyAdd(b,
                       {tile, weights.data,
                        b.add(weights.at(b, weightsAt), tapAt), plan.panel},
                       rows, channels, sums, next.from(b, tapAt));
  };
  // Unrolls the taps of small tiles: this takes little code and needs fewer
  // checks.
  if (plan.tile.rows > cpu::threshold::openRowsTileOfFew ||
      window.kernel[i] > cpu::threshold::openRowsTaps)
    return forEach(b, 0, window.kernel[i], start,
                   [&](Value tap, const Accumulators &sums) {
                     return addTap(
                         Index(tap),
                         rowsToCheck(window, tile.rows, plan.tile.rows), sums);
                   });
  Accumulators sums = start;
  for (int64_t tap = 0; tap < window.kernel[i]; ++tap)
    sums =
        addTap(tap, rowsToCheck(window, tile.rows, plan.tile.rows, tap), sums);
  return sums;
}

/// Makes row r of a tile read zeros, or zero points, if src has no pixel at
/// `coordinate`.
void ConvOpenRows::askFor(SrcRows &rows, int64_t r, Index coordinate) {
  Value within = window.hasPixel(b, window.inner(), coordinate);
  Value zeros = memref::CastOp::create(b.b, b.loc, src.data.getType(),
                                       conv.zeroPointPixel());
  rows.dataOf[r] =
      arith::SelectOp::create(b.b, b.loc, within, src.data, zeros);
  rows.at[r] = b.select(within, *rows.at[r], 0);
}

void ConvOpenRows::emitTile(const Tile &tile, const PixelsAt &pixelsAt,
                            Index count, const ColumnAt &columnAt,
                            const NextWeights &next) {
  SmallVector<Index> srcAt = window.originOf(b, pixelsAt.row, pixelsAt.first);
  srcAt.push_back(b.mul(columnAt.group, channels));
  SmallVector<Index> weightsAt = conv.weightsOf(columnAt);
  Accumulators sums = window.sumOuter(
      b, srcAt, zeroAccumulators(b, tile),
      [&](ArrayRef<Index> srcAt, ArrayRef<Index> taps,
          const Accumulators &sums) {
        llvm::copy(taps, weightsAt.begin() + 1);
        return sumRow(tile, srcAt, weightsAt, sums,
                      next.from(b, conv.inPanel(taps)));
      });
  auto storeRows = [&](int64_t from, int64_t end) {
    ArrayRef<Value> all(sums);
    conv.store(tile.withRows(end - from),
               Accumulators(
                   all.slice(from * tile.vectors, (end - from) * tile.vectors)),
               columnAt, {pixelsAt.row, b.add(pixelsAt.first, from)});
  };
  int64_t sure = tile.rows - tilingOf(plan.tile.rows).mostBeyond(tile.rows);
  std::function<void(int64_t)> storeOthers = [&](int64_t from) {
    if (from != tile.rows)
      b.branch(b.compare(arith::CmpIPredicate::sgt, count, from), [&] {
        storeRows(from, from + 1);
        storeOthers(from + 1);
      });
  };
  storeRows(0, sure);
  storeOthers(sure);
}

void ConvOpenRows::emit(const Tile &tile, const ColumnAt &columnAt,
                        const TaskRange &range) {
  const RowTiling tiling = tilingOf(tile.rows);
  Index width = window.dstSizes[window.inner()];
  Index passes = b.divideCeil(b.sub(range.endRow, range.firstRow), tile.rows);
  // Emits a tile at pixel `first`, where `left` pixels of the row remain.
  // Returns the tile's size.
  auto emitBest = [&](ArrayRef<Index> row, Index first, Index left,
                      Index numberInTask) {
    // The number of pixels that the tile covers: all remaining pixels, or half
    // of them if they need two tiles.
    Index wanted =
        b.select(b.compare(arith::CmpIPredicate::sgt, left, tile.rows),
                 b.divideCeil(left, 2), left);
    NextWeights next =
        conv.nextPanel(columnAt, b.div(numberInTask, tile.rows), passes);
    tiling.choose(b, wanted, [&](int64_t size) {
      emitTile(tile.withRows(size), {row, first}, left, columnAt, next);
    });
    return tiling.sizeFor(b, wanted);
  };
  // Prevents a division by 0 if rows have no pixels; the loop is then empty.
  Index divisor = b.max(width, 1);
  forEach(b, b.div(range.firstRow, divisor),
          b.divideCeil(range.endRow, divisor), 1, [&](Value number) {
            SmallVector<Index> row =
                coordinatesOf(b, op.getDst(), outer + 1, Index(number));
            Index rowAt = b.mul(Index(number), width);
            Index begin = b.max(b.sub(range.firstRow, rowAt), 0);
            Index end = b.min(b.sub(range.endRow, rowAt), width);
            Index tiles = b.divideCeil(b.sub(end, begin), tile.rows);
            (void)forEach(
                b, 0, tiles, {b.get(begin)},
                [&](Value, const Accumulators &at) -> Accumulators {
                  Index first(at[0]);
                  Index size =
                      emitBest(row, first, b.sub(end, first),
                               b.sub(b.add(rowAt, first), range.firstRow));
                  return {b.get(b.add(first, size))};
                });
          });
}
