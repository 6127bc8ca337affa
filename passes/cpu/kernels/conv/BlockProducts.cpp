//===- BlockProducts.cpp - products with blocks of weights ----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products with the blocks of weights of a panel:
//
//     for block of the panel's list, whose weights follow each other
//       for k: accumulators += src[row, k of the block + k] * weights[k]
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/kernels/conv/BlockProducts.h"

#include "dialects/cpu/PackedWeights.h"
#include "passes/cpu/policy/Thresholds.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

static Index loadNumber(IndexBuilder &b, Value list, Index at) {
  Value number = memref::LoadOp::create(b.b, b.loc, list, b.get(at));
  return Value(
      arith::IndexCastOp::create(b.b, b.loc, b.b.getIndexType(), number));
}

PanelBlocks::PanelBlocks(IndexBuilder &b, cpu::MatMulOp op, Index panel)
    : target(TargetInfo::of(op)), positions(op.numPanels() + 1) {
  cpu::PackedWeights weights(op.getWeights());
  depth = weights.depth;
  group = weights.group;
  width = weights.width;
  Flat blocks(b, op.getBlocks());
  list = blocks.data;
  first = loadNumber(b, list, panel);
  end = loadNumber(b, list, b.add(panel, 1));
}

/// Copies some of the rows to the stack if a cache set cannot hold a line of
/// each row. `multiplyAddWhole` would copy more rows.
SrcRows PanelBlocks::copyRows(IndexBuilder &b, const Tile &tile,
                              const SrcRows &rows) const {
  Type element = getElementTypeOrSelf(rows.data);
  int64_t bytes = rows.stride.constant * element.getIntOrFloatBitWidth() / 8;
  if (rows.stride.value || tile.rows <= cpu::threshold::linesOfSet(target) ||
      bytes % target.set_stride != 0)
    return rows;
  // A line of the set is left for the weights.
  const int64_t inPlace =
      std::max<int64_t>(cpu::threshold::linesOfSet(target) - 1, 0);
  int64_t copied = tile.rows - inPlace;
  int64_t lanes = tile.lanes * cpu::groupOf(element);
  int64_t pitch = llvm::alignTo(depth, lanes);
  Value scratch = createScratch(b, copied * pitch, element);
  SrcRows used = rows;
  SmallVector<Index> from, to;
  for (int64_t row = 0; row < copied; ++row) {
    from.push_back(*rows.at[row]);
    to.push_back(row * pitch);
    used.dataOf[row] = scratch;
    used.at[row] = to.back();
  }
  copyRuns(b, lanes, {rows.data, from}, {scratch, to}, depth);
  return used;
}

/// Returns true if the product must multiply the whole depth of a block at
/// once. This holds if the product copies rows in another form, or adds up f16.
static bool isAtOnce(const Tile &tile) {
  const ProductInfo &info = infoOf(tile.product);
  return info.rows == RowForm::asFloats || info.rows == RowForm::asInt16 ||
         info.block != 0;
}

/// Adds a block's products to the sums. There may be several sets of sums;
/// their total is the result.
Accumulators PanelBlocks::multiplyBlock(IndexBuilder &b,
                                        const TileWeights &weights,
                                        const SrcRows &rows,
                                        const Accumulators &before) const {
  const Tile &tile = weights.tile;
  if (isAtOnce(tile))
    return multiplyAddWhole(b, weights, rows, depth, before);
  SrcRows used = copyRows(b, tile, rows);
  int64_t count = tile.rows * tile.vectors, steps = before.size() / count;
  Accumulators sums = before;
  // Unrolls the whole depth, because the exit of a loop would be the only
  // branch that is hard to predict.
  for (int64_t k = 0; k < depth; k += group) {
    auto beside = MutableArrayRef(sums).slice(k / group % steps * count, count);
    SrcRows at = used;
    for (std::optional<Index> &row : at.at)
      row = b.add(*row, k);
    TileWeights part = weights;
    part.at = b.add(weights.at, k * width);
    llvm::copy(multiplyAdd(b, part, at, group, Accumulators(beside)),
               beside.begin());
  }
  return sums;
}

Accumulators PanelBlocks::multiply(IndexBuilder &b, const TileWeights &columns,
                                   Value src, Index srcAt, Index stride) const {
  const Tile &tile = columns.tile;
  int64_t steps = isAtOnce(tile) ? 1 : sumsBeside(target, tile, width);
  steps = std::min(steps, depth / group);
  Accumulators zeros = zeroAccumulators(b, tile), start;
  for (int64_t i = 0; i < steps; ++i)
    llvm::append_range(start, zeros);
  Accumulators sums = forEach(
      b, first, end, start, [&](Value block, const Accumulators &before) {
        Index k = loadNumber(b, list, b.add(positions, Index(block)));
        SrcRows rows(b, src, b.add(srcAt, k), stride, tile.rows);
        TileWeights weights = columns;
        weights.at = b.add(columns.at, b.mul(Index(block), depth * width));
        return multiplyBlock(b, weights, rows, before);
      });
  addUp(b, sums, steps);
  return sums;
}
