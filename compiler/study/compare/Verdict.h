//===- Verdict.h - if an artifact's error is acceptable ---------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_COMPARE_VERDICT_H
#define INGOT_COMPILER_STUDY_COMPARE_VERDICT_H

#include "compiler/study/runs/OutputErrors.h"

namespace ingot::study {

/// The judgement of the largest error of an output, as `ingot calibrate` judges
/// it.
struct Verdict {
  enum class Kind { good, doubtful, useless, notFinite };
  Kind kind = Kind::good;
  /// The output, the part of it, and its error; see ErrorEstimate.
  std::string output, part;
  double error = 0;

  /// Returns the kind in a word.
  std::string name() const;
  /// Returns the kind with its reason, in one line.
  std::string text() const;
};

/// Judges the errors of samples. `names` has the names of the outputs.
Verdict judgeErrors(llvm::ArrayRef<SampleErrors> samples,
                    llvm::ArrayRef<std::string> names);

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_COMPARE_VERDICT_H
