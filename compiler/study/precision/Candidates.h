//===- Candidates.h - the fastest model within a budget ---------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_PRECISION_CANDIDATES_H
#define INGOT_COMPILER_STUDY_PRECISION_CANDIDATES_H

#include "llvm/ADT/ArrayRef.h"

#include <optional>
#include <string>

namespace ingot::study {

/// The least speedup for which a precision is changed: the noise between two
/// measurements of one artifact is smaller.
constexpr double kLeastGain = 1.03;

/// A model with precisions that a search may choose.
struct Candidate {
  /// The precision as users name it, "mixed", or "mixed with bf16".
  std::string name;
  /// The score in percent.
  double percent = 0;
  /// True if the score meets the budget.
  bool isRight = false;
  /// The time of a run, measured in turns with the others. Not set for
  /// candidates that are not right.
  std::optional<double> milliseconds;
};

/// Returns the index of the fastest candidate that is right. If candidates
/// differ by less than noise, takes the one with the best score. At least one
/// candidate must be right and measured.
size_t chooseCandidate(llvm::ArrayRef<Candidate> candidates);

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_PRECISION_CANDIDATES_H
