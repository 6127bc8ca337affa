//===- FilterWeight.h - weights of the antialiasing filter ------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_FILTERWEIGHT_H
#define INGOT_PASSES_SUPPORT_FILTERWEIGHT_H

#include "passes/support/Resampling.h"

#include <algorithm>

namespace ingot::support {

/// Arithmetic like that of `Scalars`, on constants at compile time.
struct Doubles {
  double f(double value) { return value; }
  double add(double x, double y) { return x + y; }
  double sub(double x, double y) { return x - y; }
  double mul(double x, double y) { return x * y; }
  double max(double x, double y) { return std::max(x, y); }
  bool isBelow(double x, double y) { return x < y; }
  double select(bool condition, double x, double y) {
    return condition ? x : y;
  }
};

/// Returns the weight of an element at `distance`, which is at least 0, in
/// multiples of the filter's width. `s` is Scalars or Doubles.
template <typename Arithmetic, typename Number>
Number filterWeight(Arithmetic &s, const Sampling &sampling, Number distance) {
  if (sampling.mode == nn::ResizeMode::linear)
    return s.max(s.sub(s.f(1), distance), s.f(0));
  double a = sampling.cubicCoeff;
  Number square = s.mul(distance, distance);
  Number inner = s.add(
      s.mul(s.sub(s.mul(s.f(a + 2), distance), s.f(a + 3)), square), s.f(1));
  Number outer = s.sub(s.mul(s.f(a), distance), s.f(5 * a));
  outer = s.add(s.mul(outer, distance), s.f(8 * a));
  outer = s.sub(s.mul(outer, distance), s.f(4 * a));
  return s.select(s.isBelow(distance, s.f(1)), inner,
                  s.select(s.isBelow(distance, s.f(2)), outer, s.f(0)));
}

} // namespace ingot::support

#endif // INGOT_PASSES_SUPPORT_FILTERWEIGHT_H
