//===- Pairs.h - sums of two floats -----------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Numbers with twice the bits, as unevaluated sums of two floats. Source: T. J.
// Dekker, "A floating-point technique for extending the available precision",
// 1971.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_MATH_PAIRS_H
#define INGOT_PASSES_MATH_PAIRS_H

#include "passes/math/Number.h"

#include "llvm/ADT/ArrayRef.h"

namespace ingot::elementary {

/// The sum of two floats. `low` is at most half of the last place of `high`.
struct Pair {
  Number high, low;
};

/// Returns x + y exactly. Precondition: |x| >= |y|, or x is 0.
inline Pair addOrdered(Number x, Number y) {
  Number sum = x + y;
  return {sum, y - (sum - x)};
}

/// Returns x + y exactly.
inline Pair addExactly(Number x, Number y) {
  Number sum = x + y, part = sum - x;
  return {sum, (x - (sum - part)) + (y - part)};
}

/// Returns x y exactly.
inline Pair multiplyExactly(Number x, Number y) {
  Number product = x * y;
  return {product, fma(x, y, -product)};
}

inline Pair operator*(Pair x, Pair y) {
  Pair product = multiplyExactly(x.high, y.high);
  Number low = fma(x.high, y.low, fma(x.low, y.high, product.low));
  return addOrdered(product.high, low);
}

/// Evaluates the polynomial with these coefficients, highest power first.
inline Number horner(Number x, llvm::ArrayRef<double> coefficients) {
  Number sum = x.like(coefficients.front());
  for (double c : coefficients.drop_front())
    sum = fma(sum, x, x.like(c));
  return sum;
}

/// Returns 2^n for an integer n from the least to the greatest exponent of
/// normal numbers.
inline Number powerOf2(Number n) {
  // Adding 1.5 times the number whose step is 1 leaves an integer in the lowest
  // bits. The shift moves it, with the bias, to the exponent.
  return n.isDouble() ? ofBits((n + (0x1.8p52 + 1023)).bits() << 52)
                      : ofBits((n + (0x1.8p23 + 127)).bits() << 23);
}

} // namespace ingot::elementary

#endif // INGOT_PASSES_MATH_PAIRS_H
