//===- ConvColumns.cpp - prepared weights of a convolution ----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/kernels/conv/ConvColumns.h"
#include "passes/support/Shapes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

void ConvColumns::sortPairs(const Tile &tile, const ColumnAt &columnAt) {
  Flat statements(b, op.getPairs());
  int64_t inner = window.inner();
  int64_t runs = support::productOf(window.kernel.drop_back());
  if (!pairs)
    pairs.emplace(b, runs, window.kernel[inner],
                  plan.weights.depth / plan.weights.group);
  SmallVector<Index> at(statements.shape.size(), Index(0));
  at[0] = b.div(columnAt.tile, plan.tilesPerPanel);
  int64_t columns = plan.tile.vectors * tile.lanes;
  pairs->sort(b,
              {statements.data, statements.at(b, at),
               b.mul(b.rem(columnAt.tile, plan.tilesPerPanel), columns),
               columns},
              b.mul(pixelStride, window.dilations[inner]));
}

void ConvColumns::widenWeights(const Tile &tile, const ColumnAt &columnAt) {
  int64_t groups = support::productOf(window.kernel) * plan.weights.depth /
                   plan.weights.group;
  int64_t columns = plan.tile.vectors * tile.lanes;
  if (!Int16Weights::pays(plan.target, groups, columns,
                          plan.grid.rowsPerTask * output.dst.shape[outer + 1]))
    return;
  if (!wide)
    wide.emplace(b, groups, columns);
  wide->fill(b, {tile, weights.data, weights.at(b, conv.weightsOf(columnAt)),
                 plan.panel});
}

void ConvColumns::prepareWidened(const Tile &tile, int64_t terms) {
  if (widened ||
      !WidenedWeights::pays(plan.target, tile, terms, conv.pixelsOfTask()))
    return;
  widened.emplace(b, fullTile(plan.target, plan.tile), terms);
  areWidened = createScratch(b, support::productOf(window.kernel.drop_back()),
                             b.b.getI8Type());
}

void ConvColumns::clearWidened(Index from) {
  if (!areWidened)
    return;
  widenedFrom = from;
  Value none = arith::ConstantOp::create(b.b, b.loc, b.b.getI8IntegerAttr(0));
  int64_t rows = cast<MemRefType>(areWidened.getType()).getNumElements();
  for (int64_t row = 0; row < rows; ++row)
    memref::StoreOp::create(b.b, b.loc, none, areWidened, b.get(row));
}

Accumulators ConvColumns::sumWidened(const TileWeights &weights,
                                     ArrayRef<Index> outerTaps,
                                     MultiplyFn multiply) {
  if (!areWidened ||
      infoOf(weights.tile.product).columns != ColumnForm::asFloats)
    return multiply(weights);
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b.b, b.loc, b.b.getI8IntegerAttr(value));
  };
  Value row = b.get(conv.numberOf(outerTaps));
  Value isDone = memref::LoadOp::create(b.b, b.loc, areWidened, row);
  Value isFirst = arith::CmpIOp::create(b.b, b.loc, arith::CmpIPredicate::eq,
                                        isDone, number(0));
  Accumulators sums = widened->sum(b, weights, widenedFrom, isFirst, multiply);
  memref::StoreOp::create(b.b, b.loc, number(1), areWidened, row);
  return sums;
}

void ConvColumns::withWidened(const Tile &tile, const ColumnAt &columnAt,
                              function_ref<void(const Tile &tile)> body) {
  int64_t terms = support::productOf(window.kernel) * plan.weights.depth;
  if (!WidenedWeights::pays(plan.target, tile, terms, conv.pixelsOfTask()))
    return body(tile);
  if (!widened)
    widened.emplace(b, fullTile(plan.target, plan.tile), terms);
  TileWeights used = widened->fill(
      b,
      {tile, weights.data, weights.at(b, conv.weightsOf(columnAt)), plan.panel},
      terms);
  // Treats the widened copy as a single panel of the tile's columns.
  llvm::SaveAndRestore<std::optional<Flat>> before(conv.packed, weights);
  llvm::SaveAndRestore<Flat> narrow(weights);
  llvm::SaveAndRestore<int64_t> panel(plan.panel, used.panel);
  weights.data = used.data;
  for (Index &stride : weights.strides)
    stride = stride.constant / plan.weights.width * used.panel;
  weights.strides.front() = weights.strides.back() = 0;
  body(used.tile);
}
