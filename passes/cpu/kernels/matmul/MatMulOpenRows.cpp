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

/// Returns true if a separate function computes the row tiles of a column tile.
/// Products of open rows and of bytes have the longest code. Kernels whose
/// tasks differ then share the function. There is no such function with AMX,
/// because LLVM would configure AMX tiles again in each function.
bool MatMulEmitter::hasFunction(const Tile &tile) {
  if (usesTiles(tile.product))
    return false;
  return ShapedType::isDynamic(plan.rows) ||
         (plan.weights.element.isInteger(8) && tile.rows > 1 &&
          plan.depthBlock == 0 && !op.getFormat().isBlocks());
}

/// Returns true if the function gets the number of lanes of the last vector as
/// an argument. Products with different numbers of columns then share the
/// function. The function then stores with a mask, which costs nothing only
/// with vectors of 512 bits.
bool MatMulEmitter::tellsLanes(const Tile &tile) {
  constexpr int64_t kWide = 16;
  return ShapedType::isDynamic(plan.rows) && hasFunction(tile) &&
         tile.lanes == kWide && !op.getDstSigns();
}

/// Returns the heights of the tiles for the rows that remain after full tiles.
/// Loading weights from beyond the second-level cache takes as long as
/// multiplying 14 rows. With such weights, as few tiles as possible are used,
/// even if this computes many rows again.
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

/// Returns true if a tile may be higher than the matrix. Vector products can
/// read a row at any address, so they can repeat rows.
bool MatMulEmitter::canRepeatRows(const Tile &tile) {
  return !usesTiles(tile.product) &&
         infoOf(tile.product).rows != RowForm::asBits &&
         !op.getFormat().isBlocks() && plan.depthBlock == 0;
}

/// Returns true if whole panels are multiplied when there are fewer rows than
/// in the smallest tile. Each panel is then read as a single stream. Tiles of
/// short vectors would read half a panel at a time, which is slower.
bool MatMulEmitter::takesPanels(const Tile &tile) {
  return ShapedType::isDynamic(plan.rows) && !tile.isPart() &&
         infoOf(tile.product).isOfSingleFloats() && plan.depthBlock == 0 &&
         plan.tilesPerPanel > 1 &&
         plan.grid.columnTilesPerTask % plan.tilesPerPanel == 0 &&
         plan.panel <= cpu::threshold::openPanelVectors * tile.lanes &&
         !smallerTiles(tile).empty();
}

/// Multiplies each row of the task alone with the whole panel.
void MatMulEmitter::emitPanel(const Tile &tile, const ColumnTile &panel,
                              const TaskRange &range) {
  Tile whole = tile.withRows(1);
  whole.vectors = plan.panel / tile.lanes;
  forEach(b, range.firstRow, range.endRow, 1, [&](Value row) {
    store(whole, sum(whole, panel, Index(row), std::nullopt, {}), panel,
          Index(row));
  });
}

/// Emits tiles of open rows: full tiles, then tiles of smaller sizes. The last
/// tile ends with the last row, and computes some rows again. This costs
/// little, because a tile with fewer rows reads as many weights. If there are
/// fewer rows than in the smallest tile, they are computed one by one.
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
