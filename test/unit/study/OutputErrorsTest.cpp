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

/// Compares samples of one output, each of `rows` rows.
std::vector<SampleErrors> compareRows(const std::vector<double> &wanted,
                                      const std::vector<double> &got,
                                      int64_t samples,
                                      std::vector<int64_t> dims) {
  std::vector<SampleErrors> errors;
  const size_t size = wanted.size() / size_t(samples);
  auto cut = [&](const std::vector<double> &values, size_t i) {
    Array array = arrayOf<double>(INGOT_DOUBLE,
                                  {values.begin() + ptrdiff_t(i * size),
                                   values.begin() + ptrdiff_t((i + 1) * size)});
    array.dims = dims;
    return array;
  };
  for (size_t i = 0; i < size_t(samples); ++i)
    errors.push_back({1, compareOutputs({cut(wanted, i)}, {cut(got, i)})});
  return errors;
}

TEST(OutputErrors, ValuesAreJudgedByTheirSpread) {
  // The first column is near 1000 and varies by 1, the second one is near 0.
  std::vector<double> wanted, got;
  for (int i = 0; i < 16; ++i) {
    const double sign = i % 2 ? 1 : -1;
    wanted.insert(wanted.end(), {1000 + sign, 5 * sign});
    got.insert(got.end(), {1000 + sign + 0.5, 5 * sign + 0.5});
  }
  const ErrorEstimate estimate =
      estimateError(compareRows(wanted, got, 16, {1, 2}));
  EXPECT_NEAR(estimate.error, 0.5, 1e-9);
  EXPECT_EQ(estimate.part, "column 0, relative to the spread of its values");
  // A few values have no spread that says something.
  EXPECT_LT(estimateError(compareRows({1000, 1, 1001, 2}, {1000, 1, 1001, 2.1},
                                      2, {1, 2}))
                .error,
            0.01);
}

TEST(OutputErrors, ValuesThatDoNotVaryAreJudgedByTheirSize) {
  const ErrorEstimate estimate = estimateError(compareRows(
      std::vector<double>(16, 4), std::vector<double>(16, 5), 16, {1, 1}));
  EXPECT_NEAR(estimate.error, 0.25, 1e-9);
  EXPECT_EQ(estimate.part, "");
}

TEST(OutputErrors, ScoresAreJudgedApartFromBoxes) {
  // The middle dimension has four corners and six scores, for 200 boxes.
  std::vector<double> wanted, got;
  for (int column = 0; column < 10; ++column)
    for (int box = 0; box < 200; ++box) {
      wanted.push_back(column < 4 ? box : 0.5);
      got.push_back(column < 4 ? box : 0.4);
    }
  const ErrorEstimate estimate =
      estimateError(compareRows(wanted, got, 1, {1, 10, 200}));
  EXPECT_NEAR(estimate.error, 0.2, 1e-9);
  EXPECT_EQ(estimate.part, "the columns of numbers from 0 to 1");
  // Scores of classes that no sample has are no scores.
  for (double &value : wanted)
    value = value == 0.5 ? 0.001 : value;
  for (double &value : got)
    value = value == 0.4 ? 0.002 : value;
  EXPECT_LT(estimateError(compareRows(wanted, got, 1, {1, 10, 200})).error,
            0.01);
}

TEST(OutputErrors, ImagesHaveNoColumnsOfValues) {
  // The error of an image's first column of pixels counts as little as others.
  std::vector<double> wanted(8 * 6 * 6, 1), got = wanted;
  for (size_t i = 0; i < got.size(); ++i) {
    wanted[i] = got[i] = 9 + double(i % 5);
    got[i] += i % 6 == 0 ? 1 : 0;
  }
  EXPECT_EQ(estimateError(compareRows(wanted, got, 1, {1, 8, 6, 6})).part, "");
  // So do the channels of a pooled image.
  EXPECT_EQ(estimateError(compareRows(wanted, got, 9, {1, 32, 1, 1})).part, "");
}

TEST(OutputErrors, OneLargeSampleHidesNoErrors) {
  std::vector<SampleErrors> samples(32, {1, {{1, 0.25}}});
  samples[5].outputs[0] = {1e12, 1};
  const ErrorEstimate estimate = estimateError(samples);
  EXPECT_DOUBLE_EQ(estimate.error, 0.5);
  EXPECT_EQ(estimate.part, "all samples but one that is far larger");
}

TEST(OutputErrors, SeveralLargeSamplesHideNoErrors) {
  std::vector<SampleErrors> samples(32, {1, {{1, 0.25}}});
  for (size_t i : {5, 9, 20})
    samples[i].outputs[0] = {1e10 * double(i), 1};
  ErrorEstimate estimate = estimateError(samples);
  EXPECT_DOUBLE_EQ(estimate.error, 0.5);
  EXPECT_EQ(estimate.part, "all samples but 3 that are far larger");
  // A sample may stand for several.
  samples[5].weight = 5;
  EXPECT_EQ(estimateError(samples).part,
            "all samples but 7 that are far larger");
  // Large samples that are not rare are no exceptions.
  samples[5].weight = 20;
  EXPECT_EQ(estimateError(samples).part, "");
  // So are samples that are only a few times as large.
  for (size_t i : {5, 9, 20})
    samples[i] = {1, {{3600, 1}}};
  EXPECT_EQ(estimateError(samples).part, "");
}

TEST(OutputErrors, InfinitiesThatStayAreNoErrors) {
  const std::vector<Array> wanted = {
      arrayOf<float>(INGOT_FLOAT, {3, -INFINITY, NAN, 4})};
  std::vector<OutputError> errors = compareOutputs(wanted, wanted);
  EXPECT_EQ(errors[0].wanted, 25);
  EXPECT_EQ(errors[0].error, 0);
  errors =
      compareOutputs(wanted, {arrayOf<float>(INGOT_FLOAT, {3, -9, NAN, 4})});
  EXPECT_FALSE(std::isfinite(errors[0].error));
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

TEST(OutputErrors, KnowsTheErrorBesideALargerOneOfBoxes) {
  // Output 0 has rows of one value that varies by 1 around 10. Output 1 is a
  // vector.
  auto estimate = [](size_t rows) {
    std::vector<SampleErrors> samples;
    for (float sign : {-1, 1, -1, 1, -1, 1, -1, 1}) {
      Array wanted = arrayOf(INGOT_FLOAT, std::vector<float>(rows, 10 + sign));
      Array got = arrayOf(INGOT_FLOAT, std::vector<float>(rows, 10.5f + sign));
      wanted.dims = got.dims = {int64_t(rows), 1};
      samples.push_back(
          {1, compareOutputs(
                  {wanted, arrayOf(INGOT_FLOAT, std::vector<float>(9, 10))},
                  {got, arrayOf(INGOT_FLOAT, std::vector<float>(9, 6))})});
    }
    const ErrorEstimate found = estimateError(samples);
    EXPECT_EQ(found.output, 0u);
    EXPECT_DOUBLE_EQ(found.error, 0.5);
    return found.strictError;
  };
  // Offsets of boxes may be wrong. A value of each sample may not.
  EXPECT_DOUBLE_EQ(estimate(2), 0.4);
  EXPECT_DOUBLE_EQ(estimate(1), 0.5);
  EXPECT_TRUE(isUseless(0.5, 0.5, 0.2));
  EXPECT_FALSE(isUseless(0.5, 0.1, 0.2));
  EXPECT_TRUE(isUseless(1.1, 0.1, 0.2));
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
