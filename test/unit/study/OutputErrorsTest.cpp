//===- OutputErrorsTest.cpp - estimates of errors -------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/runs/OutputErrors.h"

#include "client/inputs/SampleSurvey.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string.h>

using namespace ingot;
using namespace ingot::study;

namespace {

template <typename T>
Array arrayOf(ingot_dtype dtype, std::vector<T> values) {
  Array array{dtype, {int64_t(values.size())}, {}, {}};
  array.data.resize(values.size() * sizeof(T));
  memcpy(array.data.data(), values.data(), array.data.size());
  return array;
}

TEST(OutputErrors, ComparesNumbersByNormAndLabelsByCount) {
  const std::vector<Array> wanted = {
      arrayOf<float>(INGOT_FLOAT, {3, 4}),
      arrayOf<int64_t>(INGOT_INT64, {7, 900, 0})};
  const std::vector<Array> got = {arrayOf<float>(INGOT_FLOAT, {3, 2}),
                                  arrayOf<int64_t>(INGOT_INT64, {7, 1, 0})};
  const std::vector<OutputError> errors = compareOutputs(wanted, got);
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_EQ(errors[0].wanted, 25);
  EXPECT_EQ(errors[0].error, 4);
  EXPECT_EQ(errors[1].wanted, 3);
  EXPECT_EQ(errors[1].error, 1);
  // Another number of elements is never equal.
  EXPECT_TRUE(std::isinf(
      compareOutputs(wanted, {arrayOf<float>(INGOT_FLOAT, {3})})[0].error));
}

TEST(OutputErrors, FindsTheWorstOutput) {
  // The large second output is accurate, and the small first one is not.
  const std::vector<SampleErrors> samples = {{1, {{1, 0.04}, {1e6, 1}}},
                                             {1, {{1, 0.04}, {1e6, 1}}}};
  const ErrorEstimate estimate = estimateError(samples);
  EXPECT_EQ(estimate.output, 0u);
  EXPECT_DOUBLE_EQ(estimate.error, 0.2);
  EXPECT_EQ(estimate.low, estimate.error);
  EXPECT_EQ(estimate.high, estimate.error);
}

TEST(OutputErrors, NotANumberIsTheWorst) {
  for (size_t place : {size_t(0), size_t(1), size_t(2)}) {
    std::vector<SampleErrors> samples = {{1, {{1, 0.1}, {1, 0.2}, {1, 0.3}}}};
    samples[0].outputs[place].error = NAN;
    EXPECT_EQ(estimateError(samples).output, place);
    EXPECT_TRUE(std::isnan(estimateError(samples).error));
  }
  // Zeros that stay zeros have no error, and others have an infinite one.
  EXPECT_EQ(estimateError({{1, {{0, 0}}}}).error, 0);
  EXPECT_TRUE(std::isinf(estimateError({{1, {{0, 1}}}}).error));
}

/// Draws populations of samples, and counts how often the interval of a few of
/// them contains the error of all.
TEST(OutputErrors, TheIntervalContainsTheErrorOfAllSamples) {
  std::mt19937 random(5);
  std::lognormal_distribution<double> size(0, 0.5), share(-5, 0.5);
  constexpr int kTrials = 400;
  constexpr uint64_t kSamples = 1000;
  int right = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    tools::SampleSurvey survey;
    std::vector<SampleErrors> all;
    for (uint64_t i = 0; i < kSamples; ++i) {
      const double wanted = size(random);
      all.push_back({1, {{wanted, wanted * share(random)}}});
      survey.endSample();
    }
    const double truth = estimateError(all).error;
    std::vector<SampleErrors> picked;
    for (const tools::PickedSample &one : survey.pick(64)) {
      picked.push_back(all[one.number]);
      picked.back().weight = one.weight;
    }
    const ErrorEstimate estimate = estimateError(picked);
    EXPECT_LT(estimate.high - estimate.low, 0.5 * estimate.error);
    right += estimate.low <= truth && truth <= estimate.high;
  }
  EXPECT_GE(right, kTrials * 90 / 100);
}

TEST(OutputErrors, OneSampleOfManySaysLittle) {
  EXPECT_TRUE(std::isinf(estimateError({{10, {{1, 0.1}}}}).high));
}

} // namespace
