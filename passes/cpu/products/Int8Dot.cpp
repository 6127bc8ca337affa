//===- Int8Dot.cpp - products of bytes by an instruction ------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/products/ProductKernel.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

namespace {
struct Int8Dot final : ProductKernel {
  Value step(IndexBuilder &b, const Tile &, Value row, Value weights,
             Value sum) const override {
    return multiplyAddGroupsOfFour(b, row, weights, sum);
  }
};
} // namespace

const ProductKernel &cpu::int8DotKernel() {
  static const Int8Dot kernel;
  return kernel;
}
