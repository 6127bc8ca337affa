//===- Distribution.h - what a list of times comes to ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_CLIENT_MEASURE_DISTRIBUTION_H
#define INGOT_CLIENT_MEASURE_DISTRIBUTION_H

#include <vector>

namespace ingot::tools {

/// Statistics of times. The times are kept in ascending order.
class Distribution {
public:
  explicit Distribution(std::vector<double> values);

  double min() const { return sorted.front(); }
  double max() const { return sorted.back(); }
  double mean() const { return average; }
  double median() const;
  /// Returns the time that `percent` of all times do not exceed. The definition
  /// is trtexec's.
  double percentile(double percent) const;
  /// Returns the standard deviation divided by the mean, in percent.
  double variation() const;

private:
  std::vector<double> sorted;
  double average;
};

} // namespace ingot::tools

#endif // INGOT_CLIENT_MEASURE_DISTRIBUTION_H
