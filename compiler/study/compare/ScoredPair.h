//===- ScoredPair.h - scores of a model and its reference -------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_COMPARE_SCOREDPAIR_H
#define INGOT_COMPILER_STUDY_COMPARE_SCOREDPAIR_H

#include "compiler/study/metric/Judge.h"

namespace ingot::study {

struct CompareOptions;

/// The scores of a compiled model and of its reference.
struct PairScore {
  /// The metric and the judged output, as in Judge.
  std::string metric, output;
  bool isCommand = false, hasLabels = false;
  /// The number of results, as in Judge.
  uint64_t rows = 0;
  Score model, reference;
};

/// Judges a compiled model and its reference on the samples of a comparison.
class ScoredPair {
public:
  ScoredPair(JudgeOptions options, Progress progress)
      : progress(std::move(progress)), judge(std::move(options)),
        rating(judge) {}

  /// Reads the labels of the samples. Returns null if there are none for
  /// `model` and the options name no metric.
  static llvm::Expected<std::unique_ptr<ScoredPair>>
  open(const CompareOptions &options, const ingot_model *model,
       const Progress &progress);

  /// Adds the outputs of the next sample, which `where` names.
  llvm::Error add(llvm::ArrayRef<Array> wanted, llvm::ArrayRef<Array> got,
                  const std::string &where);
  /// Returns the scores, or nothing after a warning.
  llvm::Expected<std::optional<PairScore>> end();

private:
  Progress progress;
  Judge judge;
  Rating rating;
};

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_COMPARE_SCOREDPAIR_H
