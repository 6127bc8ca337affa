//===- ConvAcrossRows.cpp - convolutions whose tiles go across rows -------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where only a run knows how long rows are, or where they are shorter than a
// tile, pixels are counted through all rows:
//
// for block of pixels, column tile
//   for tile of pixels
//     if all of them are of one row, and their taps along it within src:
//       as in ConvToVector.cpp
//     else for taps
//       find where each pixel has the tap, zeros if in the padding
//       unless all are in the padding: for k over channels
//         accumulators += found[pixel][k] * weights[k, column]
//     epilogue, store
//
// So there are two micro-kernels, whatever the sizes are: for pixels a stride
// apart, and for those of which each has an address of its own, where the last
// of a task may be missing (Dukhan, The Indirect Convolution Algorithm, 2019).
// If a kernel is dilated beyond src, as in segmentation, most taps are in the
// padding of all pixels.
// Of few channels, and for instructions that want a stride or other elements,
// the taps along a row are copied instead. That takes a load and a store for
// each vector of src, 1/16 of its products with 32 columns.
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/isa/amx/AmxTiles.h"
#include "passes/cpu/kernels/conv/ConvEmitter.h"
#include "passes/support/Shapes.h"

#include "llvm/Support/MathExtras.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

//===----------------------------------------------------------------------===//
// Pixels
//===----------------------------------------------------------------------===//

/// Calls `body` for pixels 0, 1, …, `count` - 1 from the one at coordinates
/// `first` of dst on, with the coordinates of each.
void ConvEmitter::forEachPixel(
    ArrayRef<Index> first, Index count,
    function_ref<void(Index pixel, ArrayRef<Index> at)> body) {
  Accumulators start;
  for (Index coordinate : first)
    start.push_back(b.get(coordinate));
  (void)forEach(b, 0, count, start, [&](Value pixel, const Accumulators &at) {
    SmallVector<Index> coordinates(at.begin(), at.end());
    body(Index(pixel), coordinates);
    // The last dimension first, and on to the next one where it ends.
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

void ConvEmitter::forEachTileAcrossRows(
    const Tile &tile, const TaskRange &range,
    function_ref<void(const PixelRun &run)> body) {
  int64_t inner = window.inner();
  forEach(b, range.firstRow, range.endRow, tile.rows, [&](Value number) {
    PixelRun run;
    run.pixel = Index(number);
    run.count = b.min(b.sub(range.endRow, run.pixel), tile.rows);
    run.first = coordinatesOf(b, op.getDst(), outer + 2, run.pixel);
    Index pixel = run.first.back();
    Value areAll = b.compare(arith::CmpIPredicate::eq, run.count, tile.rows);
    Value isOneRow = b.compare(arith::CmpIPredicate::sle,
                               b.add(pixel, tile.rows), window.dstSizes[inner]);
    Index origin =
        b.add(b.mul(pixel, window.strides[inner]), -window.pads[inner]);
    run.asTheyAre = b.both(b.both(areAll, isOneRow),
                           window.isWithin(b, origin, tile.rows));
    Index done = b.sub(run.pixel, range.firstRow);
    run.number = b.div(done, tile.rows);
    body(run);
  });
}

/// The heights of tiles, of which the lower ones are for the last pixels: rows
/// that are not there would be multiplied like the others, and of a map of four
/// pixels these are most. Sound has such maps; of pictures few are so small,
/// and of volumes none, and each takes a compiler's time.
RowTiling ConvEmitter::tilingOf(const Tile &tile) const {
  SmallVector<int64_t> sizes = {tile.rows};
  // Nine and four of 14, four and two of six. All AMX tiles of a kernel are of
  // one shape.
  if (usesTiles(tile.product) || tile.rows < 6 || outer > 1)
    return RowTiling(sizes);
  if (outer == 0)
    sizes.push_back(2 * tile.rows / 3);
  sizes.push_back(tile.rows / 3);
  return RowTiling(sizes);
}

void ConvEmitter::emitRun(
    const Tile &tile, const PixelRun &run, Index group, const PixelSums &sums,
    function_ref<void(function_ref<void(Value, const Tile &)>)> forEachColumn) {
  const RowTiling tiling = tilingOf(tile);
  auto prepare = [&] { sums.prepare(tiling.sizeFor(b, run.count)); };
  // A tile's sums are stored in one place, however they came about.
  if (storesInRow(tile)) {
    b.branch(run.asTheyAre, [] {}, prepare);
    return tiling.choose(b, run.count, [&](int64_t rows) {
      forEachColumn([&](Value columnTile, const Tile &full) {
        Tile some = full.withRows(rows);
        SmallVector<Type> types(
            some.rows * some.vectors,
            VectorType::get({some.lanes}, sumType(b, some)));
        auto sumAny = [&] { return sums.any(some, Index(columnTile)); };
        auto sumWhole = [&] { return sums.whole(some, Index(columnTile)); };
        storeInRow(some,
                   rows == tile.rows
                       ? choose(b, types, run.asTheyAre, sumWhole, sumAny)
                       : sumAny(),
                   run, group, Index(columnTile));
      });
    });
  }
  auto emitWhole = [&] {
    forEachColumn([&](Value columnTile, const Tile &tile) {
      store(tile, sums.whole(tile, Index(columnTile)), group,
            Index(columnTile), ArrayRef(run.first).drop_back(),
            run.first.back());
    });
  };
  auto emitPixels = [&](int64_t rows) {
    forEachColumn([&](Value columnTile, const Tile &full) {
      Tile some = full.withRows(rows);
      storePixels(some, sums.any(some, Index(columnTile)), run.first, run.count,
                  group, Index(columnTile));
    });
  };
  b.branch(run.asTheyAre, emitWhole, [&] {
    prepare();
    tiling.choose(b, run.count, emitPixels);
  });
}

void ConvEmitter::emitAcrossRows(const Tile &tile, Index group,
                                 Index columnTile, const TaskRange &range) {
  PixelTile whole = window.wholeTile(tile.rows);
  Index passes = b.divideCeil(
      b.sub(range.endRow, range.firstRow), tile.rows);
  forEachTileAcrossRows(tile, range, [&](const PixelRun &run) {
    NextWeights next = nextPanel(group, columnTile, run.number, passes);
    auto sumWhole = [&](const Tile &tile, Index columnTile) {
      return sumTile(tile, whole, run.first.back(), group, columnTile,
                     ArrayRef(run.first).drop_back(), next);
    };
    auto sumAny = [&](const Tile &tile, Index columnTile) {
      return findsPixels(tile)
                 ? sumFound(tile, group, columnTile, next)
                 : sumCopies(tile, run.first, run.count, group, columnTile);
    };
    auto prepare = [&](Index rows) {
      if (findsPixels(tile))
        findOrigins(tile, run.first, run.count, rows, group);
    };
    emitRun(tile, run, group, {prepare, sumWhole, sumAny},
            [&](function_ref<void(Value, const Tile &)> body) {
              body(b.get(columnTile), tile);
            });
  });
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

/// With fewer, finding the pixels takes longer than a tenth of the products;
/// and how many zeros the stack may hold.
static constexpr int64_t kFewestFound = 32, kMostFound = 16384;

bool ConvEmitter::hasPlainRows(const Tile &tile) const {
  return infoOf(tile.product).rows == RowForm::inPlace &&
         channels <= kMostFound;
}

bool ConvEmitter::findsPixels(const Tile &tile) const {
  return hasPlainRows(tile) && channels >= kFewestFound;
}

/// Where tap 0 of each pixel of a tile is in src: a table on the stack with the
/// coordinates of the spatial dimensions, and the offset of channel 0.
void ConvEmitter::findOrigins(const Tile &tile, ArrayRef<Index> first,
                              Index count, Index rows, Index group) {
  int64_t columns = outer + 2;
  if (!origins)
    origins = createScratch(
        b, MemRefType::get({tile.rows, columns}, b.b.getIndexType()));
  auto store = [&](Index pixel, int64_t column, Index value) {
    memref::StoreOp::create(b.b, b.loc, b.get(value), origins,
                            {b.get(pixel), b.get(column)});
  };
  forEachPixel(first, rows, [&](Index pixel, ArrayRef<Index> at) {
    SmallVector<Index> srcAt = window.originOf(b, at.drop_back(), at.back());
    srcAt.push_back(b.mul(group, channels));
    store(pixel, columns - 1, src.at(b, srcAt));
    // Behind the last pixel all lies in the padding, far before src.
    Value isThere = b.compare(arith::CmpIPredicate::slt, pixel, count);
    constexpr int64_t kNowhere = -(int64_t(1) << 60);
    for (int64_t d = 0; d <= outer; ++d) {
      Index coordinate = srcAt[1 + d];
      store(pixel, d, d == outer ? b.select(isThere, coordinate, kNowhere)
                                 : coordinate);
    }
  });
}

SrcRows ConvEmitter::findPixels(const Tile &tile, ArrayRef<Index> taps,
                                Value &isAnyWithin) {
  Value zeros = memref::CastOp::create(b.b, b.loc, src.data.getType(),
                                       zeroPointPixel());
  Index tapOffset = 0;
  for (int64_t d = 0; d <= outer; ++d)
    tapOffset = b.add(tapOffset, b.mul(b.mul(taps[d], window.dilations[d]),
                                       src.strides[1 + d]));
  SrcRows rows(b, src.data, 0, 0, tile.rows);
  for (int64_t r = 0; r < tile.rows; ++r) {
    auto load = [&](int64_t column) {
      return Index(memref::LoadOp::create(b.b, b.loc, origins,
                                          {b.get(r), b.get(column)})
                       .getResult());
    };
    Value within;
    for (int64_t d = 0; d <= outer; ++d) {
      // That of the row dimension says whether there is a pixel.
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

Accumulators ConvEmitter::sumFound(const Tile &tile, Index group,
                                   Index columnTile, const NextWeights &next) {
  SmallVector<Index> weightsAt = weightsOf(group, columnTile);
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
          channels, sums, next.from(b, inPanel(taps)));
    };
    // A zero point in the padding counts; zeros do not.
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

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

void ConvEmitter::storePixels(const Tile &tile, const Accumulators &sums,
                              ArrayRef<Index> first, Index count, Index group,
                              Index columnTile) {
  int64_t rowSize = tile.vectors * tile.lanes;
  Value spilled;
  if (usesTiles(tile.product)) {
    spilled = spillAmxTiles(b, tile, sums);
  } else {
    spilled = createScratch(b, tile.rows * rowSize, sumType(b, tile));
    spill(b, tile, sums, spilled, 0);
  }
  // A row of sums is one of vectors.
  Tile row = tile.withRows(1);
  if (usesTiles(tile.product))
    row.product = productFor(plan.target, plan.weights.element,
                              plan.weights.group);
  Index column = columnOf(group, columnTile);
  Accumulators offsets = compensationOf(tile, group, columnTile, std::nullopt);
  forEachPixel(first, count, [&](Index number, ArrayRef<Index> at) {
    storeTile(b, row, output,
              reload(b, row, spilled, b.mul(number, rowSize)),
              [&](IndexBuilder &, Index) {
                SmallVector<Index> coordinates(at);
                coordinates.push_back(column);
                return coordinates;
              },
              offsets);
  });
}

bool ConvEmitter::storesInRow(const Tile &tile) {
  ArrayRef<int64_t> dst = output.dst.shape;
  auto isPacked = [](Value memref) {
    return cast<MemRefType>(memref.getType()).getLayout().isIdentity();
  };
  auto isInRow = [&](Value operand) {
    ArrayRef<int64_t> shape = support::shapeOf(operand).drop_back();
    bool isOfAll = llvm::all_of(shape, [](int64_t size) { return size == 1; });
    return isOfAll || (isPacked(operand) && shape == dst.drop_back() &&
                       shape.back() != 1);
  };
  return !usesTiles(tile.product) && op.getSrcZeroPoint() == 0 &&
         !op.getDstSigns() && isPacked(op.getDst()) &&
         llvm::all_of(output.op.getEpilogueOperands(), isInRow);
}

void ConvEmitter::storeInRow(const Tile &tile, const Accumulators &sums,
                             const PixelRun &run, Index group,
                             Index columnTile) {
  Index column = columnOf(group, columnTile);
  auto placeOf = [&](Index pixel) {
    SmallVector<Index> coordinates(outer + 1, Index(0));
    coordinates.append({pixel, column});
    return coordinates;
  };
  auto storeAll = [&] {
    storeTile(b, tile, output, sums, [&](IndexBuilder &b, Index inTile) {
      return placeOf(b.add(run.pixel, inTile));
    });
  };
  auto storeSome = [&] {
    int64_t rowSize = tile.vectors * tile.lanes;
    Value spilled = createScratch(b, tile.rows * rowSize, sumType(b, tile));
    spill(b, tile, sums, spilled, 0);
    Tile row = tile.withRows(1);
    forEach(b, 0, run.count, 1, [&](Value number) {
      storeTile(b, row, output,
                reload(b, row, spilled, b.mul(Index(number), rowSize)),
                [&](IndexBuilder &b, Index) {
                  return placeOf(b.add(run.pixel, Index(number)));
                });
    });
  };
  if (tile.rows != plan.tile.rows)
    return storeSome();
  b.branch(b.compare(arith::CmpIPredicate::eq, run.count, tile.rows), storeAll,
           storeSome);
}
