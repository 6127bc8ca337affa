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

/// The encodings of a tensor by several methods.
struct RangeChoice {
  /// The tensor's name in the calibration.
  std::string tensor;
  struct Candidate {
    quantize::Method method;
    quantize::Encoding encoding;
  };
  /// At least one candidate. Among equally good ones the first is chosen.
  std::vector<Candidate> candidates;
  size_t chosen = 0;
};

/// Returns the candidates of a tensor, one per requested method. Among nearly
/// equal candidates only the first is kept.
std::vector<RangeChoice::Candidate>
candidatesOf(const quantize::WatchedTensor &tensor,
             const quantize::MethodChoice &asked);

/// Chooses the method of each tensor. A method is rated by the outputs of the
/// probe's samples when only this tensor is rounded.
llvm::Error chooseBest(Probe &probe, const Progress &progress,
                       std::vector<RangeChoice> &choices);

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_RANGES_BESTMETHODS_H
