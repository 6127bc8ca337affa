//===- ConvWidened.cpp - convolutions with weights of f16 -----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/kernels/conv/ConvEmitter.h"

#include "passes/support/Shapes.h"

#include "llvm/Support/SaveAndRestore.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;
using namespace ingot::support;

int64_t ConvEmitter::pixelsOfTask() const {
  ArrayRef<int64_t> dst = output.dst.shape;
  int64_t pixels = support::productOf(dst.drop_back());
  if (ShapedType::isDynamic(pixels))
    return pixels;
  int64_t ofRow = plan.acrossRows ? 1 : dst[outer + 1];
  return std::min(pixels, plan.grid.rowsPerTask * ofRow);
}

void ConvEmitter::prepareWidened(const Tile &tile, int64_t terms) {
  if (widened || !WidenedWeights::pays(tile, terms, pixelsOfTask()))
    return;
  widened.emplace(b, fullTile(plan.target, plan.tile), terms);
  areWidened = createScratch(b, support::productOf(window.kernel.drop_back()),
                             b.b.getI8Type());
}

void ConvEmitter::clearWidened(Index from) {
  if (!areWidened)
    return;
  widenedFrom = from;
  Value none = arith::ConstantOp::create(b.b, b.loc, b.b.getI8IntegerAttr(0));
  int64_t rows = cast<MemRefType>(areWidened.getType()).getNumElements();
  for (int64_t row = 0; row < rows; ++row)
    memref::StoreOp::create(b.b, b.loc, none, areWidened, b.get(row));
}

Accumulators ConvEmitter::sumWidened(const TileWeights &weights,
                                     ArrayRef<Index> outerTaps,
                                     MultiplyFn multiply) {
  if (!areWidened ||
      infoOf(weights.tile.product).columns != ColumnForm::asFloats)
    return multiply(weights);
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b.b, b.loc, b.b.getI8IntegerAttr(value));
  };
  Value row = b.get(numberOf(outerTaps));
  Value isDone = memref::LoadOp::create(b.b, b.loc, areWidened, row);
  Value isFirst = arith::CmpIOp::create(
      b.b, b.loc, arith::CmpIPredicate::eq, isDone, number(0));
  Accumulators sums =
      widened->sum(b, weights, widenedFrom, isFirst, multiply);
  memref::StoreOp::create(b.b, b.loc, number(1), areWidened, row);
  return sums;
}

void ConvEmitter::withWidened(const Tile &tile, Index group, Index columnTile,
                              function_ref<void(const Tile &tile)> body) {
  int64_t terms = support::productOf(window.kernel) * plan.weights.depth;
  if (!WidenedWeights::pays(tile, terms, pixelsOfTask()))
    return body(tile);
  if (!widened)
    widened.emplace(b, fullTile(plan.target, plan.tile), terms);
  TileWeights used = widened->fill(
      b,
      {tile, weights.data, weights.at(b, weightsOf(group, columnTile)),
       plan.panel},
      terms);
  // One panel, of the tile's columns.
  llvm::SaveAndRestore<std::optional<Flat>> before(packed, weights);
  llvm::SaveAndRestore<Flat> narrow(weights);
  llvm::SaveAndRestore<int64_t> panel(plan.panel, used.panel);
  weights.data = used.data;
  for (Index &stride : weights.strides)
    stride = stride.constant / plan.weights.width * used.panel;
  weights.strides.front() = weights.strides.back() = 0;
  body(used.tile);
}
