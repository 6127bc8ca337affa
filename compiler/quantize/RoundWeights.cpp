//===- RoundWeights.cpp - rounding of weights -----------------------------===//
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
  // Adds a part of the mean to each diagonal element. Calibration data does not
  // cover all inputs, so every direction of the data must have some weight.
  constexpr double kDamping = 0.01;
  std::iota(order.begin(), order.end(), size_t(0));
  double mean = 0;
  for (size_t i = 0; i < inner; ++i)
    mean += gram[i * inner + i] / double(inner);
  const double damping = mean > 0 ? kDamping * mean : 1;
  // Rounds the weights with the largest effect first. More weights are then
  // left to compensate for their errors.
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return gram[a * inner + a] > gram[b * inner + b];
  });
  for (size_t i = 0; i < inner; ++i)
    for (size_t k = i; k < inner; ++k)
      shares[i * inner + k] = gram[order[i] * inner + order[k]];
  for (size_t i = 0; i < inner; ++i)
    shares[i * inner + i] += damping;
  // Decomposes the matrix into U D U^T with ones on the diagonal of U.
  // Eliminates columns from the last to the first.
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
