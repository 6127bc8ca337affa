//===- RoundWeights.cpp - weights that make up for each other -------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/quantize/RoundWeights.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace ingot;
using namespace ingot::quantize;

WeightRounder::WeightRounder(const std::vector<double> &gram, size_t inner)
    : inner(inner), order(inner), shares(inner * inner) {
  // What was seen is not all there is: a part of the mean is added to each
  // diagonal element, so that no direction is free.
  constexpr double kDamping = 0.01;
  std::iota(order.begin(), order.end(), size_t(0));
  double mean = 0;
  for (size_t i = 0; i < inner; ++i)
    mean += gram[i * inner + i] / double(inner);
  const double damping = mean > 0 ? kDamping * mean : 1;
  // Those that matter most come first, while there are others to make up.
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return gram[a * inner + a] > gram[b * inner + b];
  });
  for (size_t i = 0; i < inner; ++i)
    for (size_t k = i; k < inner; ++k)
      shares[i * inner + k] = gram[order[i] * inner + order[k]];
  for (size_t i = 0; i < inner; ++i)
    shares[i * inner + i] += damping;
  // The matrix is U D U^T with ones on the diagonal of U: from the last column
  // to the first, each taken from what is left.
  std::vector<double> column(inner);
  for (size_t j = inner; j-- > 0;) {
    const double pivot = shares[j * inner + j];
    for (size_t i = 0; i < j; ++i) {
      column[i] = shares[i * inner + j];
      shares[i * inner + j] /= pivot;
    }
    for (size_t i = 0; i < j; ++i) {
      const double factor = shares[i * inner + j];
      double *row = &shares[i * inner];
      for (size_t k = i; k < j; ++k)
        row[k] -= factor * column[k];
    }
  }
}

void WeightRounder::round(const double *steps, bool *isUp) const {
  std::vector<double> wanted(inner);
  for (size_t i = 0; i < inner; ++i)
    wanted[i] = steps[order[i]];
  for (size_t i = 0; i < inner; ++i) {
    const double weight = steps[order[i]], below = std::floor(weight);
    const double rounded =
        std::clamp(std::nearbyint(wanted[i]), below, std::ceil(weight));
    isUp[order[i]] = rounded > below;
    const double error = weight - rounded;
    const double *row = &shares[i * inner];
    for (size_t k = i + 1; k < inner; ++k)
      wanted[k] += error * row[k];
  }
}
