//===- MetricName.h - the syntax of --metric --------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_METRIC_METRICNAME_H
#define INGOT_COMPILER_STUDY_METRIC_METRICNAME_H

#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace ingot::study {

/// The value of --metric: `METRIC`, `METRIC@OUTPUT`, `@OUTPUT`, or a command.
struct MetricName {
  /// A name for findMetric. If empty, the outputs and the labels decide.
  std::string metric;
  /// The names of the outputs that are judged. Empty unless the user names
  /// them.
  std::vector<std::string> outputs;
  /// A command of the shell that prints a score. Empty for other metrics.
  std::string command;

  /// Returns true if the user names a metric or an output.
  bool isGiven() const {
    return !metric.empty() || !outputs.empty() || !command.empty();
  }
};

/// Reads the value of --metric. A value with a space or a slash is a command,
/// unless it begins with the name of a metric.
llvm::Expected<MetricName> parseMetric(const std::string &given);

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_METRIC_METRICNAME_H
