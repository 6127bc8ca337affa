//===- RoundWeightsTest.cpp - rounding of weights -------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/quantize/RoundWeights.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <random>

using namespace ingot::quantize;

namespace {

std::vector<double> roundedWith(const std::vector<double> &gram,
                                const std::vector<double> &steps) {
  auto isUp = std::make_unique<bool[]>(steps.size());
  WeightRounder(gram, steps.size()).round(steps.data(), isUp.get());
  std::vector<double> rounded;
  for (size_t i = 0; i < steps.size(); ++i)
    rounded.push_back(std::floor(steps[i]) + (isUp[i] ? 1 : 0));
  return rounded;
}

/// Returns the squared error that rounding adds to sums with the data of the
/// Gram matrix.
double lossOf(const std::vector<double> &gram, const std::vector<double> &steps,
              const std::vector<double> &rounded) {
  double sum = 0;
  const size_t inner = steps.size();
  for (size_t i = 0; i < inner; ++i)
    for (size_t k = 0; k < inner; ++k)
      sum += (rounded[i] - steps[i]) * gram[i * inner + k] *
             (rounded[k] - steps[k]);
  return sum;
}

TEST(RoundWeights, RoundsToTheNearestIfNothingCorrelates) {
  const std::vector<double> gram = {2, 0, 0, 0, 1, 0, 0, 0, 3};
  EXPECT_EQ(roundedWith(gram, {1.25, -0.75, 2}),
            (std::vector<double>{1, -1, 2}));
}

TEST(RoundWeights, WeightsOfTheSameDataMakeUpForEachOther) {
  // For three inputs that are always equal, only the sum of the weights
  // matters: 1.2 rounds to 1, not 0.
  const std::vector<double> gram(9, 1.0);
  const std::vector<double> rounded = roundedWith(gram, {0.4, 0.4, 0.4});
  EXPECT_EQ(rounded[0] + rounded[1] + rounded[2], 1);
}

TEST(RoundWeights, WhatNeverWasSeenIsRoundedToTheNearest) {
  EXPECT_EQ(roundedWith(std::vector<double>(4), {0.75, -1.25}),
            (std::vector<double>{1, -1}));
}

TEST(RoundWeights, LosesLessThanTheNearest) {
  constexpr size_t kInner = 40, kRows = 400, kFactors = 10;
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  std::vector<double> mix(kFactors * kInner), gram(kInner * kInner);
  for (double &value : mix)
    value = normal(random);
  for (size_t row = 0; row < kRows; ++row) {
    std::vector<double> data(kInner);
    for (double &value : data)
      value = 0.2 * normal(random);
    for (size_t f = 0; f < kFactors; ++f) {
      const double factor = normal(random);
      for (size_t k = 0; k < kInner; ++k)
        data[k] += factor * mix[f * kInner + k];
    }
    for (size_t i = 0; i < kInner; ++i)
      for (size_t k = 0; k < kInner; ++k)
        gram[i * kInner + k] += data[i] * data[k];
  }
  double found = 0, nearest = 0;
  for (int output = 0; output < 20; ++output) {
    std::vector<double> steps(kInner), near(kInner);
    for (size_t k = 0; k < kInner; ++k) {
      steps[k] = 40 * normal(random);
      near[k] = std::nearbyint(steps[k]);
    }
    const std::vector<double> rounded = roundedWith(gram, steps);
    for (size_t k = 0; k < kInner; ++k)
      EXPECT_LT(std::abs(rounded[k] - steps[k]), 1);
    found += lossOf(gram, steps, rounded);
    nearest += lossOf(gram, steps, near);
  }
  EXPECT_LT(found, 0.3 * nearest);
}

} // namespace
