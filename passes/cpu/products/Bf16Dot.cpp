//===- Bf16Dot.cpp - products of bf16 by an instruction -------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/products/ProductKernel.h"

#include "mlir/Dialect/X86Vector/X86VectorDialect.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

namespace {
struct Bf16Dot final : ProductKernel {
  Value step(IndexBuilder &b, const Tile &, Value row, Value weights,
             Value sum) const override {
    return x86vector::DotBF16Op::create(b.b, b.loc, sum.getType(), sum, row,
                                        weights);
  }
};
} // namespace

const ProductKernel &cpu::bf16DotKernel() {
  static const Bf16Dot kernel;
  return kernel;
}
