//===- PackedTiles.cpp - tiles of products with packed weights ------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/kernels/matmul/PackedTiles.h"

#include "passes/cpu/policy/Thresholds.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

PackedTiles::PackedTiles(OpBuilder &builder, cpu::PackedMatMulOp op)
    : b{builder, op.getLoc()}, op(op), plan(op), src(b, op.getSrc()),
      weights(b, op.getWeights()), scales(b, op.getScales()), output(b, op) {
  if (op.getZeroPoints())
    zeros.emplace(b, op.getZeroPoints());
}

PackedColumns PackedTiles::columnsAt(ArrayRef<Index> batch, Index columnTile) {
  int64_t columns = plan.tile.vectors * plan.target.lanes;
  return {b.div(columnTile, plan.tilesPerPanel),
          b.mul(b.rem(columnTile, plan.tilesPerPanel), columns),
          b.mul(columnTile, columns), batch};
}

void PackedTiles::forEachRowTile(const Tile &tile, const TaskRange &range,
                                 RowTileFn body) {
  SmallVector<int64_t> sizes = {tile.rows};
  if (ShapedType::isDynamic(plan.rows)) {
    llvm::copy_if(ArrayRef<int64_t>{4, 1}, std::back_inserter(sizes),
                  [&](int64_t size) { return size < tile.rows; });
  } else if (int64_t rest = plan.rows % tile.rows) {
    sizes.push_back(rest);
  }
  RowTiling(sizes).cutInTurn(
      b, range.firstRow, range.endRow,
      [&](int64_t size, Index row) { body(tile.withRows(size), row); });
}

void PackedTiles::prefetchWords(const PackedColumns &columns, Index word) {
  for (int64_t at = 0; at < plan.panel; at += plan.target.wordsOfLine())
    memref::PrefetchOp::create(
        b.b, b.loc, weights.data,
        ValueRange{b.get(weights.at(
            b, {columns.panel,
                b.add(word, cpu::threshold::packedPrefetchedWords), at}))},
        /*isWrite=*/false, /*localityHint=*/3, /*isDataCache=*/true);
}

Value PackedTiles::loadOfBlock(const Tile &tile, const PackedColumns &columns,
                               const Flat &from, Index number, int64_t v,
                               float factor) {
  Index column = b.add(columns.inPanel, v * tile.lanes);
  Value value = vector::LoadOp::create(
      b.b, b.loc,
      VectorType::get({tile.lanes}, getElementTypeOrSelf(from.data)), from.data,
      b.get(from.at(b, {columns.panel, number, column})));
  if (!getElementTypeOrSelf(value).isF32())
    value = arith::SIToFPOp::create(b.b, b.loc, realVector(tile), value);
  if (factor == 1)
    return value;
  Value constant = arith::ConstantOp::create(
      b.b, b.loc,
      DenseElementsAttr::get(realVector(tile), b.b.getF32FloatAttr(factor)));
  return arith::MulFOp::create(b.b, b.loc, value, constant);
}

Index PackedTiles::srcAt(const PackedColumns &columns, Index row, Index k) {
  SmallVector<Index> at(columns.batch);
  at.append({row, k});
  return src.at(b, at);
}

void PackedTiles::store(const Tile &tile, const Accumulators &sums,
                        const PackedColumns &columns, Index row) {
  storeTile(b, tile, output, sums, [&](IndexBuilder &b, Index inTile) {
    SmallVector<Index> coordinates(columns.batch);
    coordinates.append({b.add(row, inTile), columns.first});
    return coordinates;
  });
}
