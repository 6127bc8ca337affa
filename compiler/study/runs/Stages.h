//===- Stages.h - the stages of a study -------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_RUNS_STAGES_H
#define INGOT_COMPILER_STUDY_RUNS_STAGES_H

#include "base/Progress.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <vector>

namespace ingot::study {

/// Returns the progress of a part of the work. The fractions 0 to 1 of the part
/// become `from` to `to` of the whole. A step without a fraction keeps the
/// previous fraction.
inline Progress partOf(const Progress &whole, double from, double to) {
  return whole.part(from, to);
}

/// Divides work into stages. Each stage has a weight, which estimates its share
/// of the time. A stage that is left out has the weight 0.
class Stages {
public:
  Stages(const Progress &whole, std::vector<double> weights)
      : whole(whole), weights(std::move(weights)) {}

  /// Returns the progress of the next stage.
  Progress next() {
    assert(number < weights.size() && "more stages than weights");
    const double sum =
        std::max(std::accumulate(weights.begin(), weights.end(), 0.0), 1e-9);
    const double from = done;
    done += weights[number++] / sum;
    return partOf(whole, std::min(from, 1.0), std::min(done, 1.0));
  }

private:
  Progress whole;
  std::vector<double> weights;
  size_t number = 0;
  double done = 0;
};

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_RUNS_STAGES_H
