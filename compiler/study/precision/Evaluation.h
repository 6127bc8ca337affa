//===- Evaluation.h - how often a model is right ----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_PRECISION_EVALUATION_H
#define INGOT_COMPILER_STUDY_PRECISION_EVALUATION_H

#include "compiler/study/runs/ReadSamples.h"

#include <functional>
#include <optional>
#include <set>

namespace ingot::study {

/// Samples, and the right class for each row of the first output. The classes
/// come from the array `labels` beside the samples. Without labels they are the
/// results of fp32.
class Evaluation {
public:
  /// Runs a model on a sample.
  using Run = std::function<llvm::Error(const std::vector<Array> &inputs,
                                        std::vector<Array> &outputs)>;

  Evaluation(std::string path, Preprocess preprocess)
      : path(std::move(path)), preprocess(std::move(preprocess)) {}

  /// Opens the files and reads the labels.
  llvm::Error open();
  void setInputs(std::vector<InputSpec> specs) { inputs = std::move(specs); }

  /// Runs fp32. If there are no labels, its results are the right classes.
  llvm::Error runReference(const Run &run, const Progress &progress);
  /// Returns the percentage of rows that are right. Remembers the samples with
  /// wrong rows for `reaches`.
  llvm::Expected<double> rate(const Run &run, const Progress &progress);
  /// Checks if `least` percent of the rows are right. Runs only the samples in
  /// which `rate` found wrong rows, and assumes that all others are right.
  /// Stops as soon as the answer is certain.
  llvm::Expected<bool> reaches(const Run &run, double least,
                               const Progress &progress) const;

  bool hasLabels() const { return !labels.empty(); }
  uint64_t numRows() const { return wanted.size(); }
  uint64_t numSamples() const { return firstRows.size(); }
  /// Returns the percentage for fp32, which is 100 without labels.
  double referencePercent() const { return reference; }
  const std::string &file() const { return path; }
  const Preprocess &how() const { return preprocess; }

private:
  std::string readLabels();
  /// Takes the classes of a sample's rows. Returns false to stop.
  using Visit = std::function<bool(const std::vector<int64_t> &classes)>;
  llvm::Error classify(const Run &run, Samples &samples,
                       const Progress &progress, const Visit &visit) const;
  double percentOf(uint64_t rows) const;
  /// Returns the number of wrong rows in the sample. Returns nothing if the
  /// number of rows has changed.
  std::optional<uint64_t> countWrong(uint64_t sample,
                                     const std::vector<int64_t> &classes) const;
  std::string hasChanged() const;

  std::string path;
  Preprocess preprocess;
  std::vector<InputSpec> inputs;
  std::vector<int64_t> labels, wanted;
  /// The index of each sample's first row.
  std::vector<uint64_t> firstRows;
  /// The samples with wrong rows.
  std::set<uint64_t> doubtful;
  double reference = 100;
};

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_PRECISION_EVALUATION_H
