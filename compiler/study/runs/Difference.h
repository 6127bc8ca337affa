//===- Difference.h - how far two tensors are apart -------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_RUNS_DIFFERENCE_H
#define INGOT_COMPILER_STUDY_RUNS_DIFFERENCE_H

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace ingot::study {

/// Returns true if both numbers are NaN, or the same infinity.
inline bool isSameNotFinite(double a, double b) {
  return !std::isfinite(a) && (a == b || (std::isnan(a) && std::isnan(b)));
}

/// Returns true if values vary by more than rounding errors. `spread` is the
/// sum of their squared deviations from the mean, `squares` that of their
/// squares.
inline bool areVaried(double spread, double squares) {
  return spread > 1e-12 * squares;
}

/// Sums over all elements of all compared samples. A sample that represents
/// several samples has a larger weight.
struct Difference {
  double wanted = 0, found = 0, product = 0, error = 0, largest = 0;
  uint64_t count = 0;

  void add(double want, double got, double weight = 1) {
    ++count;
    // An infinity or NaN that stays as it is has no error.
    if (isSameNotFinite(want, got))
      return;
    wanted += weight * want * want;
    found += weight * got * got;
    product += weight * want * got;
    error += weight * (got - want) * (got - want);
    largest = std::max(largest, std::abs(got - want));
  }

  /// Returns the norm of the error divided by that of the wanted values; 0 if
  /// both are zero.
  double relative() const { return error == 0 ? 0 : std::sqrt(error / wanted); }
  /// Returns the cosine of the angle between wanted and found values.
  double cosine() const {
    return error == 0 ? 1 : product / std::sqrt(wanted * found);
  }
  /// Returns the signal-to-noise ratio in decibels; infinite without noise.
  double decibels() const { return 10 * std::log10(wanted / error); }
};

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_RUNS_DIFFERENCE_H
