//===- Candidates.cpp - the fastest model within a budget -----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/precision/Candidates.h"

#include <algorithm>
#include <cassert>
#include <limits>

using namespace ingot::study;

size_t ingot::study::chooseCandidate(llvm::ArrayRef<Candidate> candidates) {
  auto mayBeTaken = [](const Candidate &one) {
    return one.isRight && one.milliseconds;
  };
  double fastest = std::numeric_limits<double>::infinity();
  for (const Candidate &one : candidates)
    if (mayBeTaken(one))
      fastest = std::min(fastest, *one.milliseconds);
  size_t best = candidates.size();
  for (size_t i = 0; i < candidates.size(); ++i)
    if (mayBeTaken(candidates[i]) &&
        *candidates[i].milliseconds <= fastest * kLeastGain &&
        (best == candidates.size() ||
         candidates[i].percent > candidates[best].percent))
      best = i;
  assert(best < candidates.size() && "no candidate is right and measured");
  return best;
}
