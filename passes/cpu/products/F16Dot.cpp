//===- F16Dot.cpp - products of f16, a few summed up as f16 ---------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A vector register holds twice as many f16 as f32, and AVX512-FP16 multiplies
// and adds both at the same rate. A long sum of f16 loses too much precision,
// however. Therefore only cpu::kF16Terms products of a column are added as f16.
// Weights lie in pairs, so that even lanes sum even k, and odd lanes sum odd k.
// The sums of neighbouring lanes are then added as f16, and the result is added
// to the sum of f32. scaleForF16Sums prevents overflow.
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/products/ProductKernel.h"

#include "dialects/cpu/PackedWeights.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

namespace {
struct F16Dot final : ProductKernel {
  Value step(IndexBuilder &b, const Tile &, Value row, Value weights,
             Value sum) const override {
    return vector::FMAOp::create(b.b, b.loc, row, weights, sum);
  }

  Accumulators startBlock(IndexBuilder &b, const Tile &tile) const override {
    auto type = VectorType::get({2 * tile.lanes}, b.b.getF16Type());
    Value zero = arith::ConstantOp::create(b.b, b.loc, b.b.getZeroAttr(type));
    return Accumulators(tile.rows * tile.vectors, zero);
  }

  Accumulators finishBlock(IndexBuilder &b, const Tile &tile,
                           const SrcRows &rows, const Accumulators &block,
                           const Accumulators &sums) const override;
};
} // namespace

const ProductKernel &cpu::f16DotKernel() {
  static const F16Dot kernel;
  return kernel;
}

/// Returns every second lane of `low`, then of `high`, from lane `first` on.
static Value everySecond(IndexBuilder &b, Value low, Value high,
                         int64_t first) {
  int64_t lanes = cast<VectorType>(low.getType()).getDimSize(0);
  SmallVector<int64_t> mask;
  for (int64_t i = first; i < (low == high ? lanes : 2 * lanes); i += 2)
    mask.push_back(i);
  return vector::ShuffleOp::create(b.b, b.loc, low, high, mask);
}

// Skips rows that the tile does not read, because they have no sums.
Accumulators F16Dot::finishBlock(IndexBuilder &b, const Tile &tile,
                                 const SrcRows &rows, const Accumulators &block,
                                 const Accumulators &sums) const {
  Accumulators next = sums;
  for (int64_t r = 0; r < tile.rows; ++r) {
    if (!rows.at[r])
      continue;
    // Take two vectors at a time: a permutation of both gives a whole vector of
    // sums.
    for (int64_t v = 0; v < tile.vectors; v += 2) {
      int64_t first = r * tile.vectors + v;
      bool isPair = v + 1 < tile.vectors;
      Value low = block[first], high = isPair ? block[first + 1] : low;
      Value both =
          arith::AddFOp::create(b.b, b.loc, everySecond(b, low, high, 0),
                                everySecond(b, low, high, 1));
      for (int64_t i = 0; i < (isPair ? 2 : 1); ++i) {
        Value part = both;
        if (isPair)
          part = vector::ShuffleOp::create(
              b.b, b.loc, both, both,
              llvm::to_vector(llvm::seq(i * tile.lanes, (i + 1) * tile.lanes)));
        Value &sum = next[first + i];
        sum = arith::AddFOp::create(b.b, b.loc, sum, widenFloats(b, part));
      }
    }
  }
  return next;
}
