//===- Bf16Wide.cpp - products of bf16 as f32 -----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/products/ProductKernel.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

namespace {
struct Bf16Wide final : FloatKernel {
  Value prepareColumns(IndexBuilder &b, const Tile &tile, Value weights,
                       int64_t part) const override {
    auto pairs = VectorType::get({tile.lanes}, b.b.getI32Type());
    return widenHalfOfVector(
        b, vector::BitCastOp::create(b.b, b.loc, pairs, weights), part);
  }

  Accumulators multiplyRows(IndexBuilder &b, const TileWeights &weights,
                            const SrcRows &rows, int64_t depth,
                            const Accumulators &start,
                            const NextWeights &next) const override {
    return multiplyCopies(b, weights, rows, depth, start, next);
  }
};
} // namespace

const ProductKernel &cpu::bf16WideKernel() {
  static const Bf16Wide kernel;
  return kernel;
}
