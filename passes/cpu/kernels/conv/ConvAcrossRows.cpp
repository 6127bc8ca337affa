//===- ConvAcrossRows.cpp - convolutions whose tiles go across rows -------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tiles across rows. They are used if the length of rows is open, or if rows
// are shorter than a tile. Pixels are then numbered across all rows:
//
//     for block of pixels, column tile
//       for tile of pixels
//         if all lie in one row, and their taps along it lie within src:
//           as in ConvToVector.cpp
//         else for taps
//           find the address of each pixel's tap; use zeros in the padding
//           unless all are in the padding: for k over channels
//             accumulators += found[pixel][k] * weights[k, column]
//         epilogue, store
//
// Two micro-kernels thus serve any sizes. The first handles pixels at a
// constant stride. The second handles pixels that each have their own address;
// the last pixels of a task may be missing (Dukhan, The Indirect Convolution
// Algorithm, 2019). If a kernel is dilated beyond src, as in segmentation, most
// taps are in the padding for all pixels.
//
// With few channels, and for instructions that require a fixed stride or other
// elements, the taps along a row are copied instead (ConvIm2Col.cpp). A copy
// takes a load and a store for each vector of src, 1/16 of its products with 32
// columns.
//===----------------------------------------------------------------------===//
#include "passes/cpu/kernels/conv/ConvAcrossRows.h"
#include "passes/cpu/isa/amx/AmxTiles.h"
#include "passes/cpu/policy/Thresholds.h"
#include "passes/support/Shapes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

void ConvAcrossRows::forEachRun(const Tile &tile, const TaskRange &range,
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

/// Returns the heights of tiles. The lower tiles are for the last pixels,
/// because a row without a pixel costs as much as any other. In a feature map
/// of four pixels, most rows of a high tile would have no pixel. Such maps are
/// common in audio, rare in images and absent in volumes. Each height costs
/// compile time.
RowTiling ConvAcrossRows::tilingOf(const Tile &tile) const {
  SmallVector<int64_t> sizes = {tile.rows};
  // Adds heights of nine and four to a tile of 14 rows, and heights of four and
  // two to a tile of six. Adds none with AMX, because AMX tiles must have one
  // shape in a kernel.
  if (usesTiles(tile.product) || tile.rows < cpu::threshold::acrossCutRows ||
      outer > 1)
    return RowTiling(sizes);
  const int64_t parts = cpu::threshold::acrossParts;
  if (outer == 0)
    sizes.push_back((parts - 1) * tile.rows / parts);
  sizes.push_back(tile.rows / parts);
  return RowTiling(sizes);
}

bool ConvAcrossRows::copiesWindows(const Tile &tile) {
  return !found.isWorthIt(tile) && copies.copiedTaps(tile).rows != 0;
}

void ConvAcrossRows::emitRun(const Tile &tile, const PixelRun &run, Index group,
                             const PixelSums &sums,
                             ForEachColumn forEachColumn) {
  const RowTiling tiling = tilingOf(tile);
  auto prepare = [&] { sums.prepare(tiling.sizeFor(b, run.count)); };
  // There are two ways to compute the sums. Both share the code that stores the
  // sums.
  if (storesInRow(tile)) {
    b.branch(run.asTheyAre, [] {}, prepare);
    return tiling.choose(b, run.count, [&](int64_t rows) {
      forEachColumn([&](Value columnTile, const Tile &full) {
        Tile some = full.withRows(rows);
        SmallVector<Type> types(
            some.rows * some.vectors,
            VectorType::get({some.lanes}, sumType(b, some)));
        ColumnAt columnAt{group, Index(columnTile)};
        auto sumAny = [&] { return sums.any(some, columnAt); };
        auto sumWhole = [&] { return sums.whole(some, columnAt); };
        storeInRow(some,
                   rows == tile.rows
                       ? choose(b, types, run.asTheyAre, sumWhole, sumAny)
                       : sumAny(),
                   run, columnAt);
      });
    });
  }
  auto emitWhole = [&] {
    forEachColumn([&](Value columnTile, const Tile &tile) {
      ColumnAt columnAt{group, Index(columnTile)};
      conv.store(tile, sums.whole(tile, columnAt), columnAt, run.at());
    });
  };
  auto emitPixels = [&](int64_t rows) {
    forEachColumn([&](Value columnTile, const Tile &full) {
      Tile some = full.withRows(rows);
      ColumnAt columnAt{group, Index(columnTile)};
      storePixels(some, sums.any(some, columnAt), run, columnAt);
    });
  };
  b.branch(run.asTheyAre, emitWhole, [&] {
    prepare();
    tiling.choose(b, run.count, emitPixels);
  });
}

void ConvAcrossRows::emit(const Tile &tile, const ColumnAt &columnAt,
                          const TaskRange &range) {
  PixelTile whole = window.wholeTile(tile.rows);
  Index passes = b.divideCeil(
      b.sub(range.endRow, range.firstRow), tile.rows);
  forEachRun(tile, range, [&](const PixelRun &run) {
    NextWeights next = conv.nextPanel(columnAt, run.number, passes);
    auto sumWhole = [&](const Tile &tile, const ColumnAt &columnAt) {
      return sums.sumTile(tile, whole, run.at(), columnAt, next);
    };
    auto sumAny = [&](const Tile &tile, const ColumnAt &columnAt) {
      return found.isWorthIt(tile)
                 ? found.sumFound(tile, columnAt, next)
                 : copies.sumCopies(tile, run.first, run.count, columnAt);
    };
    auto prepare = [&](Index rows) {
      if (found.isWorthIt(tile))
        found.findOrigins(tile, run.first, run.count, rows, columnAt.group);
    };
    emitRun(tile, run, columnAt.group, {prepare, sumWhole, sumAny},
            [&](function_ref<void(Value, const Tile &)> body) {
              body(b.get(columnAt.tile), tile);
            });
  });
}

void ConvAcrossRows::emitFewChannels(const Tile &tile, Index group,
                                     const TaskRange &range,
                                     ForEachColumn forEachColumn) {
  PixelTile whole = window.wholeTile(tile.rows);
  Im2ColLayout copied = copies.copiedTaps(tile);
  SmallVector<Index> noTaps(window.inner(), Index(0));
  forEachRun(tile, range, [&](const PixelRun &run) {
    auto copy = [&](Index rows) {
      copies.prepareCopies(copied);
      copies.copyTaps(copied, {run.first, run.count, rows},
                      {noTaps, 0, b.mul(group, channels), channels});
    };
    auto sumWhole = [&](const Tile &tile, const ColumnAt &columnAt) {
      return sums.sumTile(tile, whole, run.at(), columnAt, {});
    };
    auto sumAny = [&](const Tile &tile, const ColumnAt &columnAt) {
      return copies.sumCopied(
          tile, copied, noTaps, weights.at(b, conv.weightsOf(columnAt)),
          copied.rows * copied.taps * channels, zeroAccumulators(b, tile));
    };
    emitRun(tile, run, group, {copy, sumWhole, sumAny}, forEachColumn);
  });
}

void ConvAcrossRows::storePixels(const Tile &tile, const Accumulators &sums,
                                 const PixelRun &run,
                                 const ColumnAt &columnAt) {
  int64_t rowSize = tile.vectors * tile.lanes;
  Value spilled;
  if (usesTiles(tile.product)) {
    spilled = spillAmxTiles(b, tile, sums);
  } else {
    spilled = createScratch(b, tile.rows * rowSize, sumType(b, tile));
    spill(b, tile, sums, spilled, 0);
  }
  // Stores a row of vectors of sums.
  Tile row = tile.withRows(1);
  if (usesTiles(tile.product))
    row.product = productFor(plan.target, plan.weights.element,
                              plan.weights.group);
  Index column = conv.columnOf(columnAt);
  Accumulators offsets = conv.compensationOf(tile, columnAt, std::nullopt);
  conv.forEachPixel(
      run.first, run.count, [&](Index number, ArrayRef<Index> at) {
        storeTile(
            b, row, output, reload(b, row, spilled, b.mul(number, rowSize)),
            [&](IndexBuilder &, Index) {
              SmallVector<Index> coordinates(at);
              coordinates.push_back(column);
              return coordinates;
            },
            offsets);
      });
}

bool ConvAcrossRows::storesInRow(const Tile &tile) {
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

void ConvAcrossRows::storeInRow(const Tile &tile, const Accumulators &sums,
                                const PixelRun &run, const ColumnAt &columnAt) {
  Index column = conv.columnOf(columnAt);
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
