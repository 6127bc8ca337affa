//===- MatMulOpenRows.cpp - matrix products of open rows ------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/kernels/matmul/MatMulEmitter.h"
#include "passes/cpu/policy/Thresholds.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

/// Whether the row tiles of columns are a function. LLVM would set up AMX's
/// tiles anew in each.
bool MatMulEmitter::hasFunction(const Tile &tile) {
  return ShapedType::isDynamic(plan.rows) && !usesTiles(tile.product);
}

/// Whether such a function is told how many lanes of the last vector there are:
/// it is the same for all products then, however many columns they have.
/// Vectors of 512 bits are stored as fast with a mask.
bool MatMulEmitter::tellsLanes(const Tile &tile) {
  constexpr int64_t kWide = 16;
  return hasFunction(tile) && tile.lanes == kWide && !op.getDstSigns();
}

/// Rows of the tiles that are for what full ones leave of open rows. Weights
/// from behind the second cache take as long to come as 14 rows of products: of
/// these, what is left are as few tiles as can be, however much of them is
/// computed once more.
SmallVector<int64_t> MatMulEmitter::smallerTiles(const Tile &tile) {
  int64_t larger =
      std::max((tile.rows + 1) / 2,
               std::min(tile.rows - 1, cpu::threshold::openTileRows));
  if (usesTiles(tile.product))
    larger = tile.amxRows;
  auto type = cast<ShapedType>(op.getWeights().getType());
  int64_t weightBytes =
      type.getNumElements() * nn::elementBytes(type.getElementType());
  if (canRepeatRows(tile) && plan.grid.prefetch &&
      weightBytes > cpu::threshold::farWeights(plan.target))
    return larger > cpu::threshold::openTileRows
               ? SmallVector<int64_t>{tile.rows, larger}
               : SmallVector<int64_t>{tile.rows};
  SmallVector<int64_t> sizes;
  for (int64_t size : {larger, cpu::threshold::openTileRows})
    if (size > 1 && size < (sizes.empty() ? tile.rows : sizes.back()))
      sizes.push_back(size);
  return sizes;
}

/// Whether a tile may be higher than the matrix: what is multiplied as vectors
/// reads each row where it is told to.
bool MatMulEmitter::canRepeatRows(const Tile &tile) {
  return !usesTiles(tile.product) &&
         infoOf(tile.product).rows != RowForm::asBits && !op.getBlocks() &&
         plan.depthBlock == 0;
}

/// Whether fewer open rows than any tile has go through panels as a whole, each
/// of which is one stream then: with half a panel at a time, as tiles of short
/// vectors have it, a row took 1.6 times as long.
bool MatMulEmitter::takesPanels(const Tile &tile) {
  return ShapedType::isDynamic(plan.rows) && !tile.isPart() &&
         infoOf(tile.product).isOfSingleFloats() && plan.depthBlock == 0 &&
         plan.tilesPerPanel > 1 &&
         plan.grid.columnTilesPerTask % plan.tilesPerPanel == 0 &&
         plan.panel <= cpu::threshold::openPanelVectors * tile.lanes &&
         !smallerTiles(tile).empty();
}

/// Each row of the task alone.
void MatMulEmitter::emitPanel(const Tile &tile, const ColumnTile &panel,
                              const TaskRange &range) {
  Tile whole = tile.withRows(1);
  whole.vectors = plan.panel / tile.lanes;
  forEach(b, range.firstRow, range.endRow, 1, [&](Value row) {
    store(whole, sum(whole, panel, Index(row), std::nullopt, {}), panel,
          Index(row));
  });
}

/// Tiles of open rows: full ones, then those of a smaller size, of which the
/// last ends with the last row: rows before it are computed once more, since
/// all weights are read for a tile, however few rows it has. Fewer rows than
/// even the smallest tile has go one by one, if they come here at all.
void MatMulEmitter::forEachOpenRowTile(const Tile &tile, const TaskRange &range,
                                       RowTileFn body) {
  int64_t full = tile.rows;
  Index end = range.endRow;
  Index whole = b.div(b.sub(end, range.firstRow), full);
  Index row = b.add(range.firstRow, b.mul(whole, full));
  auto numberOf = [&](Index row) {
    return b.div(b.sub(row, range.firstRow), full);
  };
  forEach(b, range.firstRow, row, full, [&](Value at) {
    body(tileOf(tile, full), Index(at), numberOf(Index(at)));
  });
  const bool areFewElsewhere =
      takesPanels(tile) && plan.columns % plan.panel == 0;
  auto mayBeHigher = [&](int64_t size) {
    return canRepeatRows(tileOf(tile, size));
  };
  auto emit = [&](const CutTile &cut) {
    Tile part = tileOf(tile, cut.size);
    if (cut.end)
      part = part.withEnd(*cut.end);
    body(part.withDone(b.sub(cut.wanted, cut.row)), cut.row,
         numberOf(cut.first));
  };
  row = RowTiling(smallerTiles(tile))
            .cutRest(b, {row, end, areFewElsewhere ? 0 : 1, mayBeHigher}, emit);
  if (areFewElsewhere)
    return;
  forEach(b, row, end, 1,
          [&](Value at) { body(tileOf(tile, 1), Index(at), numberOf(row)); });
}
