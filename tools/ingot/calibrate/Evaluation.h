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
#include <optional>
#include <set>

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
  /// Percent of the rows that are right. Remembers the samples in which a row
  /// is wrong.
  std::string rate(const Run &run, double &percent);
  /// Tells whether `least` percent of the rows are right, as far as samples
  /// say in which `rate` found a wrong row: all others are taken to be right.
  /// Stops at the sample that decides.
  std::string reaches(const Run &run, double least, bool &isReached) const;

  bool hasLabels() const { return !labels.empty(); }
  uint64_t numRows() const { return wanted.size(); }
  uint64_t numSamples() const { return firstRows.size(); }
  /// Of fp32: 100 without labels.
  double referencePercent() const { return reference; }
  const std::string &file() const { return path; }
  const Preprocess &how() const { return preprocess; }

private:
  std::string readLabels();
  /// Takes the classes of a sample's rows. False: no more samples are wanted.
  using Visit = std::function<bool(const std::vector<int64_t> &classes)>;
  std::string classify(const Run &run, Samples &samples,
                       const Visit &visit) const;
  double percentOf(uint64_t rows) const;
  /// How many rows of the sample are wrong; none if it has other rows by now.
  std::optional<uint64_t> countWrong(uint64_t sample,
                                     const std::vector<int64_t> &classes) const;
  std::string hasChanged() const;

  std::string path;
  Preprocess preprocess;
  std::vector<InputSpec> inputs;
  std::vector<int64_t> labels, wanted;
  /// Number of each sample's first row.
  std::vector<uint64_t> firstRows;
  /// Samples in which a row was wrong.
  std::set<uint64_t> doubtful;
  double reference = 100;
};

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_CALIBRATE_EVALUATION_H
