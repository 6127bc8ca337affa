//===- Evaluation.h - how often a model is right ----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_CALIBRATE_EVALUATION_H
#define INGOT_TOOLS_INGOT_CALIBRATE_EVALUATION_H

#include "tools/ingot/calibrate/Samples.h"

#include <functional>

namespace ingot::tools {

/// Samples, and the class that each row of the first output should have: as the
/// array `labels` beside the samples says, or as fp32 has it.
class Evaluation {
public:
  /// Runs a model on a sample; returns what is wrong, or "".
  using Run = std::function<std::string(const std::vector<Array> &inputs,
                                        std::vector<Array> &outputs)>;

  Evaluation(std::string path, Preprocess preprocess)
      : path(std::move(path)), preprocess(std::move(preprocess)) {}

  /// Finds files and labels. Functions return what is wrong, or "".
  std::string open();
  void setInputs(std::vector<InputSpec> specs) { inputs = std::move(specs); }

  /// Runs fp32, which tells the classes if there are no labels.
  std::string runReference(const Run &run);
  /// Percent of the rows that are right.
  std::string rate(const Run &run, double &percent) const;

  bool hasLabels() const { return !labels.empty(); }
  uint64_t numRows() const { return wanted.size(); }
  /// Of fp32: 100 without labels.
  double referencePercent() const { return reference; }
  const std::string &file() const { return path; }
  const Preprocess &how() const { return preprocess; }

private:
  std::string readLabels();
  std::string classify(const Run &run, std::vector<int64_t> &classes) const;
  double percentRight(const std::vector<int64_t> &classes) const;

  std::string path;
  Preprocess preprocess;
  std::vector<InputSpec> inputs;
  std::vector<int64_t> labels, wanted;
  double reference = 100;
};

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_CALIBRATE_EVALUATION_H
