//===- F16Wide.cpp - products of f32 by weights of f16 --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/products/WidenedWeights.h"

#include "passes/cpu/kernels/matmul/UnpackWeights.h"
#include "passes/cpu/policy/Scratch.h"
#include "passes/cpu/policy/Thresholds.h"
#include "passes/cpu/products/ProductKernel.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

//===----------------------------------------------------------------------===//
// Weights that are widened in each step
//===----------------------------------------------------------------------===//

namespace {
struct F16Wide final : FloatKernel {
  Value prepareColumns(IndexBuilder &b, const Tile &tile, Value weights,
                       int64_t) const override {
    return widenWeights(b, tile.hasFMA, weights);
  }
};
} // namespace

const ProductKernel &cpu::f16WideKernel() {
  static const F16Wide kernel;
  return kernel;
}

Value cpu::widenWeights(IndexBuilder &b, bool hasFMA, Value weights) {
  return hasFMA ? widenFloats(b, weights) : widenF16(b, weights);
}

//===----------------------------------------------------------------------===//
// Weights that are widened once for many rows
//===----------------------------------------------------------------------===//

bool WidenedWeights::pays(const TargetInfo &target, const Tile &tile,
                          int64_t terms, int64_t rows) {
  return infoOf(tile.product).columns == ColumnForm::asFloats &&
         terms * tile.vectors * tile.lanes * int64_t(sizeof(float)) <=
             fitStack(threshold::widenedF16Bytes(target)) &&
         (ShapedType::isDynamic(rows) || rows > tile.rows);
}

WidenedWeights::WidenedWeights(IndexBuilder &b, const Tile &tile, int64_t terms)
    : columns(tile.vectors * tile.lanes) {
  data = createScratch(b, terms * columns, b.b.getF32Type());
}

TileWeights WidenedWeights::wide(const TileWeights &weights, Index at) const {
  TileWeights wide{weights.tile, data, at, columns};
  wide.tile.product = Product::f32;
  return wide;
}

TileWeights WidenedWeights::fill(IndexBuilder &b, const TileWeights &weights,
                                 int64_t terms) const {
  const int64_t &kAtOnce = cpu::threshold::f16WidenedTerms;
  const Tile &tile = weights.tile;
  auto half = VectorType::get({tile.lanes}, b.b.getF16Type());
  auto widen = [&](Index term) {
    for (int64_t v = 0; v < tile.vectors; ++v) {
      Index from =
          b.add(weights.at, b.add(b.mul(term, weights.panel), v * tile.lanes));
      Value loaded =
          vector::LoadOp::create(b.b, b.loc, half, weights.data, b.get(from));
      vector::StoreOp::create(
          b.b, b.loc, widenWeights(b, tile.hasFMA, loaded), data,
          b.get(b.add(b.mul(term, columns), v * tile.lanes)));
    }
  };
  int64_t rest = terms % kAtOnce;
  forEach(b, 0, terms - rest, kAtOnce, [&](Value first) {
    for (int64_t i = 0; i < kAtOnce; ++i)
      widen(b.add(Index(first), i));
  });
  for (int64_t i = terms - rest; i < terms; ++i)
    widen(i);
  return wide(weights, 0);
}

// Widens weights in the first tile. Widening uses a port that also multiplies.
// The 12 to 28 multiplications of the first tile hide the widening and the
// stores.
Accumulators WidenedWeights::sum(IndexBuilder &b, const TileWeights &weights,
                                 Index from, Value isFirst,
                                 MultiplyFn multiply) const {
  const Tile &tile = weights.tile;
  int64_t share = weights.panel / columns;
  SmallVector<Type> types(tile.rows * tile.vectors,
                          VectorType::get({tile.lanes}, sumType(b, tile)));
  return choose(
      b, types, isFirst,
      [&] {
        TileWeights first = weights;
        first.tile.kept = KeptWeights{data, from, share};
        return multiply(first);
      },
      [&] {
        return multiply(wide(weights, b.div(b.sub(weights.at, from), share)));
      });
}

Accumulators WidenedWeights::sum(IndexBuilder &b, const TileWeights &weights,
                                 Index number, MultiplyFn multiply) const {
  return sum(b, weights, weights.at,
             b.compare(arith::CmpIPredicate::eq, number, 0), multiply);
}
