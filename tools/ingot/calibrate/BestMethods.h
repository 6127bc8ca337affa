//===- BestMethods.h - the range that costs the outputs least ---*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_CALIBRATE_BESTMETHODS_H
#define INGOT_TOOLS_INGOT_CALIBRATE_BESTMETHODS_H

#include "compiler/quantize/Methods.h"
#include "tools/ingot/calibrate/Probe.h"

namespace ingot::tools {

/// What methods make of a tensor.
struct RangeChoice {
  /// As the calibration names it.
  std::string tensor;
  struct Candidate {
    quantize::Method method;
    quantize::Encoding encoding;
  };
  /// At least one; the first of those that are best is taken.
  std::vector<Candidate> candidates;
  size_t chosen = 0;
};

/// The candidates of a tensor, one for each method that is asked for; of those
/// that are nearly the same, only the first.
std::vector<RangeChoice::Candidate>
candidatesOf(const quantize::WatchedTensor &tensor,
             const quantize::MethodChoice &asked);

/// Chooses for each tensor by what rounding it, and nothing else, does to the
/// outputs of the probe's samples. Returns what is wrong, or "".
std::string chooseBest(Probe &probe, const Progress &progress,
                       std::vector<RangeChoice> &choices);

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_CALIBRATE_BESTMETHODS_H
