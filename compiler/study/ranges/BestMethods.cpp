//===- BestMethods.cpp - the range that costs the outputs least -----------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/ranges/BestMethods.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace ingot;
using namespace ingot::study;

/// Returns true if two encodings are almost equal, so that measurements could
/// not tell them apart.
static bool areNear(const quantize::Encoding &a, const quantize::Encoding &b) {
  constexpr float kNear = 0.002f;
  return a.zeroPoint == b.zeroPoint &&
         std::abs(a.scale - b.scale) <= kNear * a.scale;
}

std::vector<RangeChoice::Candidate>
ingot::study::candidatesOf(const quantize::WatchedTensor &tensor,
                           const quantize::MethodChoice &asked) {
  std::vector<RangeChoice::Candidate> candidates;
  for (quantize::MethodChoice choice : asked.choices()) {
    const quantize::Encoding encoding =
        quantize::encode(choice.rangeOf(tensor));
    if (std::none_of(candidates.begin(), candidates.end(),
                     [&](const RangeChoice::Candidate &other) {
                       return areNear(other.encoding, encoding);
                     }))
      candidates.push_back({choice.method, encoding});
  }
  return candidates;
}

llvm::Error ingot::study::chooseBest(Probe &probe, const Progress &progress,
                                     std::vector<RangeChoice> &choices) {
  const std::vector<std::string> &tensors = probe.tensors();
  auto numberOf = [&](const RangeChoice &choice) {
    return size_t(std::find(tensors.begin(), tensors.end(), choice.tensor) -
                  tensors.begin());
  };
  // Compare with runs in which all weights are rounded, but no tensor is. Then
  // only the rounding of one tensor causes a difference.
  for (size_t i = 0; i < tensors.size(); ++i)
    probe.setExact(i);
  const std::vector<bool> all(probe.units().size(), true);
  if (llvm::Error error = probe.compareWith(all, progress))
    return error;
  for (size_t i = 0; i < choices.size(); ++i) {
    RangeChoice &choice = choices[i];
    const size_t tensor = numberOf(choice);
    if (choice.candidates.size() < 2 || tensor == tensors.size())
      continue;
    progress.step("methods, tensor " + std::to_string(i + 1) + " of " +
                      std::to_string(choices.size()),
                  double(i) / double(choices.size()));
    double least = std::numeric_limits<double>::infinity();
    for (size_t c = 0; c < choice.candidates.size(); ++c) {
      probe.setRange(tensor, choice.candidates[c].encoding);
      llvm::Expected<double> error = probe.measure(all, progress);
      if (!error)
        return error.takeError();
      if (*error < least) {
        least = *error;
        choice.chosen = c;
      }
    }
    probe.setExact(tensor);
  }
  return llvm::Error::success();
}
