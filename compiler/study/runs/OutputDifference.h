//===- OutputDifference.h - an output in two precisions ---------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_RUNS_OUTPUTDIFFERENCE_H
#define INGOT_COMPILER_STUDY_RUNS_OUTPUTDIFFERENCE_H

#include "client/Values.h"
#include "compiler/study/runs/Client.h"
#include "compiler/study/runs/Difference.h"

#include <string>
#include <vector>

namespace ingot::study {

/// Returns for each row of the last dimension the index of its largest element.
/// Returns nothing if rows have only one element.
std::vector<int64_t> largestPlaces(const Array &array);

struct OutputDifference {
  std::string name;
  Difference difference;
  /// The number of rows whose largest element is at the same index in both
  /// arrays, and the number of all rows.
  double agreeing = 0, rows = 0;

  /// Adds arrays of equal shape. `weight` is the number of samples that they
  /// represent.
  void add(const Array &wanted, const Array &got, double weight = 1);
  double percentAgreeing() const {
    return rows > 0 ? 100 * agreeing / rows : 0;
  }
};

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_RUNS_OUTPUTDIFFERENCE_H
