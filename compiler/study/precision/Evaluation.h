//===- Evaluation.h - how right a model is ----------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_PRECISION_EVALUATION_H
#define INGOT_COMPILER_STUDY_PRECISION_EVALUATION_H

#include "compiler/study/metric/Metric.h"
#include "compiler/study/runs/ReadSamples.h"

#include <functional>
#include <optional>

namespace ingot::study {

/// Samples, and the right result of the first output for each. The results come
/// from the array `labels` beside the samples. Without labels they are those of
/// fp32. A metric compares results and gives a score.
class Evaluation {
public:
  /// Runs a model on a sample.
  using Run = std::function<llvm::Error(const std::vector<Array> &inputs,
                                        std::vector<Array> &outputs)>;

  /// `metric` is a name for findMetric, or "" to choose a metric by the output.
  Evaluation(std::string path, Preprocess preprocess, std::string metric)
      : path(std::move(path)), preprocess(std::move(preprocess)),
        wantedMetric(std::move(metric)) {}

  /// Opens the files, and reads the labels.
  llvm::Error open();
  void setInputs(std::vector<InputSpec> specs) { inputs = std::move(specs); }

  /// Runs fp32. If there are no labels, its results are right.
  llvm::Error runReference(const Run &run, const Progress &progress);
  /// Returns the score in percent. Remembers the samples whose results are not
  /// right for `reaches`.
  llvm::Expected<double> rate(const Run &run, const Progress &progress);
  /// Checks if the score is at least `least` percent. Runs only the samples for
  /// which `rate` found results that are not right, and assumes that all others
  /// are right. Stops as soon as the answer is certain.
  llvm::Expected<bool> reaches(const Run &run, double least,
                               const Progress &progress) const;

  bool hasLabels() const { return labels.has_value(); }
  /// Returns the number of results: of rows, if classes are judged.
  uint64_t numRows() const { return rows; }
  uint64_t numSamples() const { return targets.size(); }
  /// Returns the score of fp32, which is 100 without labels.
  double referencePercent() const { return reference; }
  /// Returns the metric's name, for example "argmax". Known after runReference.
  std::string metricName() const { return metric->name(); }

private:
  std::string readLabels();
  /// Takes the first output of a sample. Returns false to stop.
  using Visit = llvm::function_ref<llvm::Expected<bool>(const Array &output)>;
  llvm::Error forEachOutput(const Run &run, Samples &samples,
                            const Progress &progress, Visit visit) const;
  llvm::Error chooseFor(const Array &output);
  llvm::Error addTarget(const Array &output);
  std::string name() const;
  llvm::Error hasChanged() const;

  std::string path;
  Preprocess preprocess;
  std::string wantedMetric;
  std::vector<InputSpec> inputs;
  std::optional<Labels> labels;
  std::unique_ptr<Metric> metric;
  std::vector<Target> targets;
  /// The number of labels that targets have been made of.
  uint64_t numTaken = 0;
  uint64_t rows = 0;
  /// True for each sample whose results `rate` found not right.
  std::vector<bool> doubtful;
  double reference = 100;
};

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_PRECISION_EVALUATION_H
