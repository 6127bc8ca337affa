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
#include <vector>

namespace ingot::tools {

/// The place of the largest number in each row of the last dimension; of rows
/// of one number, nothing.
std::vector<int64_t> largestPlaces(const Array &array);

struct OutputDifference {
  std::string name;
  Difference difference;
  /// Rows of which the largest element is at the same place, and all.
  double agreeing = 0, rows = 0;

  /// Of one shape; of a sample that stands for so many.
  void add(const Array &wanted, const Array &got, double weight = 1);
  double percentAgreeing() const {
    return rows > 0 ? 100 * agreeing / rows : 0;
  }
};

/// Of all outputs of a model.
class OutputsDifference {
public:
  void add(const std::vector<Array> &wanted, const std::vector<Array> &got,
           double weight = 1);
  /// The norm of the outputs' error over theirs, the root of the mean square
  /// over all outputs.
  double relative() const;

private:
  std::vector<Difference> differences;
};

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_CALIBRATE_OUTPUTDIFFERENCE_H
