//===- OutputDifference.h - an output in two precisions ---------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_CALIBRATE_OUTPUTDIFFERENCE_H
#define INGOT_TOOLS_INGOT_CALIBRATE_OUTPUTDIFFERENCE_H

#include "tools/ingot/Values.h"
#include "tools/ingot/calibrate/Difference.h"

#include <string>

namespace ingot::tools {

/// The place of the largest number in each row of the last dimension; of rows
/// of one number, nothing.
std::vector<int64_t> largestPlaces(const Array &array);

struct OutputDifference {
  std::string name;
  Difference difference;
  /// Rows of which the largest element is at the same place, and all.
  uint64_t agreeing = 0, rows = 0;

  /// Of one shape.
  void add(const Array &wanted, const Array &got);
  double percentAgreeing() const {
    return rows ? 100 * double(agreeing) / double(rows) : 0;
  }
};

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_CALIBRATE_OUTPUTDIFFERENCE_H
