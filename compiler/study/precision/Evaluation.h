//===- Evaluation.h - how right a model is ----------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_PRECISION_EVALUATION_H
#define INGOT_COMPILER_STUDY_PRECISION_EVALUATION_H

#include "compiler/study/metric/Judge.h"
#include "compiler/study/runs/ReadSamples.h"

#include <functional>

namespace ingot::study {

/// Samples on which models are run and judged.
class Evaluation {
public:
  /// Runs a model on a sample.
  using Run = std::function<llvm::Error(const std::vector<Array> &inputs,
                                        std::vector<Array> &outputs)>;

  Evaluation(std::string path, Preprocess preprocess, JudgeOptions options)
      : path(std::move(path)), preprocess(std::move(preprocess)),
        verdicts(std::move(options)) {}

  /// Opens the files, and reads the labels.
  llvm::Error open();
  llvm::Error setModel(std::vector<InputSpec> specs,
                       std::vector<std::string> outputs);

  /// Runs fp32. If there are no labels, its results are right.
  llvm::Error runReference(const Run &run, const Progress &progress);
  /// Returns the score. Remembers the samples whose results are not right for
  /// `reaches`.
  llvm::Expected<Score> rate(const Run &run, const Progress &progress);
  /// Checks if the score is at least `least` percent. Runs only the samples for
  /// which `rate` found results that are not right, and assumes that all others
  /// are right. Stops as soon as the answer is certain. A command scores all
  /// samples instead.
  llvm::Expected<bool> reaches(const Run &run, double least,
                               const Progress &progress) const;

  const Judge &judge() const { return verdicts; }

private:
  /// Takes the outputs of a sample. Returns false to stop.
  using Visit = llvm::function_ref<llvm::Expected<bool>(
      const std::vector<Array> &outputs)>;
  llvm::Error forEachOutput(const Run &run, Samples &samples,
                            const Progress &progress, Visit visit) const;
  llvm::Expected<Score> rateAll(const Run &run, const Progress &progress,
                                std::vector<bool> *isDoubtful) const;

  std::string path;
  Preprocess preprocess;
  std::vector<InputSpec> inputs;
  Judge verdicts;
  /// True for each sample whose results `rate` found not right.
  std::vector<bool> doubtful;
};

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_PRECISION_EVALUATION_H
