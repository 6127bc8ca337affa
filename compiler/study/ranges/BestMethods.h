//===- BestMethods.h - the range that costs the outputs least ---*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_RANGES_BESTMETHODS_H
#define INGOT_COMPILER_STUDY_RANGES_BESTMETHODS_H

#include "compiler/quantize/Methods.h"
#include "compiler/study/runs/Probe.h"

namespace ingot::study {

/// The encodings of a tensor, one for each method.
struct RangeChoice {
  /// The tensor's name in the calibration.
  std::string tensor;
  struct Candidate {
    quantize::Method method;
    quantize::Encoding encoding;
  };
  /// At least one candidate. Among equally good candidates the first is chosen.
  std::vector<Candidate> candidates;
  size_t chosen = 0;
};

/// Returns the candidates for a tensor, one per requested method. Keeps only
/// the first of nearly equal candidates.
std::vector<RangeChoice::Candidate>
candidatesOf(const quantize::WatchedTensor &tensor,
             const quantize::MethodChoice &asked);

/// Chooses the method for each tensor. The rating of a method is the error of
/// the outputs if only this tensor is rounded, over the probe's samples.
llvm::Error chooseBest(Probe &probe, const Progress &progress,
                       std::vector<RangeChoice> &choices);

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_RANGES_BESTMETHODS_H
