//===- Distribution.cpp - what a list of times comes to -------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "client/measure/Distribution.h"

#include <algorithm>
#include <math.h>
#include <numeric>
#include <stdint.h>

using namespace ingot::tools;

Distribution::Distribution(std::vector<double> values)
    : sorted(std::move(values)) {
  if (sorted.empty())
    sorted.push_back(0);
  std::sort(sorted.begin(), sorted.end());
  average = std::accumulate(sorted.begin(), sorted.end(), 0.0) /
            double(sorted.size());
}

double Distribution::median() const {
  size_t middle = sorted.size() / 2;
  return sorted.size() % 2 ? sorted[middle]
                           : (sorted[middle - 1] + sorted[middle]) / 2;
}

double Distribution::percentile(double percent) const {
  auto all = int64_t(sorted.size());
  auto excluded = int64_t((1 - percent / 100) * double(all));
  return sorted[size_t(std::max<int64_t>(all - 1 - excluded, 0))];
}

double Distribution::variation() const {
  double squares = 0;
  for (double value : sorted)
    squares += (value - average) * (value - average);
  return average > 0 ? 100 * sqrt(squares / double(sorted.size())) / average
                     : 0;
}
