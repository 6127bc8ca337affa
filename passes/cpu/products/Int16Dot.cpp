//===- Int16Dot.cpp - products of int16 -----------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/products/PairProducts.h"
#include "passes/cpu/products/ProductKernel.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

namespace {
struct Int16Dot final : ProductKernel {
  Value step(IndexBuilder &b, const Tile &, Value row, Value weights,
             Value sum) const override {
    return addInt16(b, row, weights, sum);
  }
};
} // namespace

const ProductKernel &cpu::int16DotKernel() {
  static const Int16Dot kernel;
  return kernel;
}
