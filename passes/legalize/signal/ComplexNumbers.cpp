//===- ComplexNumbers.cpp - complex arithmetic ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/signal/ComplexNumbers.h"

#include <cmath>

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

Value ComplexNumbers::constant(Type type, double value) {
  auto number = b.getFloatAttr(getElementTypeOrSelf(type), value);
  if (auto vector = dyn_cast<VectorType>(type))
    return arith::ConstantOp::create(b, loc,
                                     DenseElementsAttr::get(vector, number));
  return arith::ConstantOp::create(b, loc, number);
}

ComplexValue ComplexNumbers::timesRootOfUnity(ComplexValue x, int64_t k,
                                              int64_t n) {
  if (k == 0)
    return x;
  auto negative = [&](Value v) -> Value {
    return arith::NegFOp::create(b, loc, v);
  };
  ComplexValue quarter = {x.im, negative(x.re)};
  if (4 * k == n)
    return quarter;
  // Rotates by 1/8 or 3/8 of a turn: combines x and `quarter`, and scales by
  // sqrt(1/2).
  Value root = constant(x.re.getType(), M_SQRT1_2);
  if (8 * k == n)
    return scaled(plus(x, quarter), root);
  return scaled(minus(quarter, x), root);
}

SmallVector<ComplexValue> ComplexNumbers::transform(ArrayRef<ComplexValue> x) {
  size_t size = x.size();
  if (size == 1)
    return {x.front()};
  SmallVector<ComplexValue> halves[2];
  for (auto [i, point] : llvm::enumerate(x))
    halves[i % 2].push_back(point);
  for (SmallVector<ComplexValue> &half : halves)
    half = transform(half);
  SmallVector<ComplexValue> y(size);
  for (size_t k = 0; k < size / 2; ++k) {
    ComplexValue odd = timesRootOfUnity(halves[1][k], k, size);
    y[k] = plus(halves[0][k], odd);
    y[k + size / 2] = minus(halves[0][k], odd);
  }
  return y;
}
