//===- Judge.h - scores of models on samples --------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_METRIC_JUDGE_H
#define INGOT_COMPILER_STUDY_METRIC_JUDGE_H

#include "compiler/study/metric/BlockSums.h"
#include "compiler/study/metric/Boxes.h"
#include "compiler/study/metric/Metric.h"
#include "compiler/study/metric/MetricName.h"
#include "compiler/study/metric/ScoreCommand.h"

namespace ingot::study {

/// The user's choice of a metric.
struct JudgeOptions {
  MetricName metric;
  /// The most seconds of one run of the metric's command.
  unsigned seconds = 60;
};

struct Score {
  /// The score in percent. A command has a unit of its own.
  double percent = 0;
  std::vector<Detail> details;
};

/// Judges the outputs of models on samples. The right results come from labels.
/// Without labels they are those of the reference, a model in fp32.
class Judge {
public:
  explicit Judge(JudgeOptions options) : options(std::move(options)) {}

  /// Reads the array `labels` of the file with the samples, if it has one.
  llvm::Error readLabelsOf(const std::string &path);
  /// Sets the model that is judged. Must be called after readLabelsOf, and
  /// before the first sample. Drops labels that the model reads, such as one
  /// that computes a loss, unless the user has named a metric.
  llvm::Error setModel(const std::vector<InputSpec> &inputs,
                       std::vector<std::string> outputs);

  /// Adds the reference's outputs of the next sample. `where` names the sample.
  /// The first sample chooses the metric unless the user has named one.
  llvm::Error addReference(llvm::ArrayRef<Array> outputs,
                           const std::string &where);
  /// Checks that the labels fit to the samples, and computes the score of the
  /// reference.
  llvm::Error endReference(const Progress &progress);
  /// Makes an error if the labels say that no result of the reference is right,
  /// or if nothing can be wrong.
  llvm::Error checkReference() const;

  bool hasLabels() const { return givenLabels.has_value(); }
  uint64_t numSamples() const { return samples; }
  /// Returns the number of results: of rows, if classes are judged.
  uint64_t numRows() const { return rows; }
  const Score &reference() const { return referenceScore; }
  /// True if the user has named the metric or its output.
  bool isNamed() const { return options.metric.isGiven(); }
  /// True if a command computes the scores.
  bool isCommand() const { return !options.metric.command.empty(); }
  /// True if only the whole of all samples has a score. Known after the first
  /// sample.
  bool isOfAllSamples() const {
    return isCommand() || (metric && metric->isOfAllSamples());
  }
  /// Returns the metric in the syntax of --metric, without an output. Known
  /// after the first sample.
  const std::string &metricName() const { return shownMetric; }
  /// Returns the error that the samples are not those of the reference.
  llvm::Error hasChanged() const;
  /// Returns the judged output; several names for boxes, and "" for a command.
  const std::string &outputName() const { return shownOutput; }

  // For metrics that judge each sample by itself.
  /// Compares a sample's outputs with the right result.
  llvm::Expected<Sums> compare(size_t sample,
                               llvm::ArrayRef<Array> outputs) const;
  /// Returns the sums of a sample with a right result.
  Sums perfect(size_t sample) const { return metric->perfect(targets[sample]); }
  void addPerfect(Sums &all, size_t sample) const {
    metric->add(all, perfect(sample));
  }
  double percentOf(const Sums &sums) const { return metric->score(sums); }

private:
  friend class Rating;

  llvm::Error chooseFor(llvm::ArrayRef<Array> outputs);
  llvm::Error chooseOutput(llvm::ArrayRef<Array> outputs);
  llvm::Error checkFor(const Array &output) const;
  llvm::Expected<Array> judgedOf(llvm::ArrayRef<Array> outputs) const;
  llvm::Error addTarget(const Array &output);
  std::string fileName() const;

  const JudgeOptions options;
  std::string path, shownMetric, shownOutput;
  std::vector<std::string> outputNames;
  /// The labels as the file has them, and as numbers.
  std::optional<Array> givenLabels;
  std::optional<Labels> labels;
  std::unique_ptr<Metric> metric;
  /// The output that is judged, or the outputs with boxes.
  size_t judged = 0;
  std::optional<BoxOutputs> boxes;
  std::vector<Target> targets;
  /// The number of labels that targets have been made of.
  uint64_t numTaken = 0;
  uint64_t rows = 0, samples = 0;
  Sums referenceSums;
  BlockSums referenceBlocks;
  Score referenceScore;
  /// The outputs of the reference, for a command.
  std::unique_ptr<OutputFolder> referenceFolder;
};

/// Scores one model on all samples of a judge, in their order.
class Rating {
public:
  explicit Rating(const Judge &judge) : judge(judge) {}

  /// Adds the outputs of the next sample. The judge must have seen the
  /// reference's outputs of this sample.
  llvm::Error add(llvm::ArrayRef<Array> outputs);
  /// Returns true if the last sample's result is right. Is false for commands.
  bool isPerfect() const { return lastIsPerfect; }
  /// Returns the score after all samples.
  llvm::Expected<Score> end(const Progress &progress);

private:
  const Judge &judge;
  size_t sample = 0;
  bool lastIsPerfect = false;
  Sums sums;
  BlockSums blocks;
  std::unique_ptr<OutputFolder> folder;
};

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_METRIC_JUDGE_H
