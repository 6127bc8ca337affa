//===- Winograd.cpp - Winograd transforms ---------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/Winograd.h"

#include "llvm/ADT/SmallVector.h"

#include <cassert>
#include <cmath>

using namespace ingot::cpu;

Winograd::Winograd(int64_t outputs, bool isWhole)
    : numOutputs(outputs), isWhole(isWhole) {
  assert((outputs == 2 || outputs == 4) && "one pair of points, or two");
}

double Winograd::squareOf(int64_t i) const {
  assert(i >= 0 && i < numOutputs / 2 && "one of the pairs");
  if (numOutputs == 2)
    return 1;
  if (isWhole)
    return i == 0 ? 1 : 4;
  return i == 0 ? 0.5 : 2;
}

double Winograd::at(int64_t point) const {
  assert(point >= 0 && point < points() - 1 && "a finite point");
  if (point == 0)
    return 0;
  double size = std::sqrt(squareOf((point - 1) / 2));
  return point % 2 ? size : -size;
}

/// Multiplies the polynomial by `(x - zero)`. The lowest coefficient comes
/// first.
static void multiplyByRoot(llvm::SmallVectorImpl<double> &polynomial,
                           double zero) {
  polynomial.push_back(0);
  for (size_t i = polynomial.size(); i-- > 0;)
    polynomial[i] = (i ? polynomial[i - 1] : 0) - zero * polynomial[i];
}

// Returns a coefficient of the polynomial whose zeros are all other finite
// points. The polynomial is even for the point 0 and odd for infinity.
double Winograd::data(int64_t point, int64_t k) const {
  bool isInfinite = point == points() - 1;
  if ((point == 0 && k % 2 != 0) || (isInfinite && k % 2 == 0))
    return 0;
  llvm::SmallVector<double> polynomial{1};
  for (int64_t other = 0; other < points() - 1; ++other)
    if (other != point)
      multiplyByRoot(polynomial, at(other));
  return k < int64_t(polynomial.size()) ? polynomial[k] : 0;
}

double Winograd::distances(int64_t point) const {
  double product = 1;
  for (int64_t other = 0; other < points() - 1; ++other)
    if (other != point)
      product *= at(point) - at(other);
  return product;
}

double Winograd::filter(int64_t point, int64_t k) const {
  if (point == points() - 1)
    return k == kTaps - 1;
  double power = std::pow(at(point), double(k));
  return isWhole ? power : power / distances(point);
}

double Winograd::output(int64_t i, int64_t point) const {
  // A common multiple of the products of distances, for integer points.
  double scale = !isWhole ? 1 : numOutputs == 2 ? 2 : 24;
  if (point == points() - 1)
    return i == numOutputs - 1 ? scale : 0;
  double power = std::pow(at(point), double(i));
  return isWhole ? power * scale / distances(point) : power;
}
