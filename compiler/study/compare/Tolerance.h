//===- Tolerance.h - how far outputs may be apart ---------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_COMPARE_TOLERANCE_H
#define INGOT_COMPILER_STUDY_COMPARE_TOLERANCE_H

#include "compiler/study/runs/OutputDifference.h"

#include <optional>

namespace ingot::study {

/// Bounds from the user. As in numpy.allclose, an element is within the bounds
/// if |got - wanted| <= absolute + relative |wanted|. A NaN is within the
/// bounds only if NaN is wanted.
struct Tolerance {
  std::optional<double> absolute, relative;
  /// The largest relative error of a whole output.
  std::optional<double> output;

  bool isGiven() const { return absolute || relative || output; }
  bool allows(double wanted, double got) const {
    if (wanted == got || (std::isnan(wanted) && std::isnan(got)))
      return true;
    if (!std::isfinite(wanted) || !std::isfinite(got))
      return false;
    return std::abs(got - wanted) <=
           absolute.value_or(0) + relative.value_or(0) * std::abs(wanted);
  }
};

/// The elements of one output that are beyond the tolerance.
struct Excess {
  uint64_t count = 0;
  /// The first element beyond the tolerance: its index, both values and the
  /// sample.
  uint64_t place = 0;
  double wanted = 0, got = 0;
  std::string where;

  /// Adds the elements of one sample.
  void add(const Tolerance &tolerance, const Array &wanted, const Array &got,
           const std::string &where);
};

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_COMPARE_TOLERANCE_H
