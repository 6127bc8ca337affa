//===- HistogramTest.cpp - histograms of values ---------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/quantize/Histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <random>

using ingot::quantize::Histogram;

namespace {

/// Returns values of many magnitudes, with zeros of both signs.
std::vector<float> makeValues(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::uniform_int_distribution<int> exponent(-60, 20);
  std::vector<float> values(count);
  for (float &value : values)
    value = random() % 4 == 0 ? (random() % 2 ? 0.0f : -0.0f)
                              : std::ldexp(normal(random), exponent(random));
  return values;
}

Histogram count(const std::vector<float> &values) {
  Histogram histogram;
  histogram.add(values.data(), values.size());
  return histogram;
}

TEST(Histogram, IsTheSameHoweverValuesCome) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::vector<float> values = makeValues(5000, seed);
    const Histogram whole = count(values);
    std::mt19937 random(seed);
    std::shuffle(values.begin(), values.end(), random);
    Histogram pieces, parts[3];
    for (size_t at = 0; at < values.size();) {
      size_t size = std::min<size_t>(random() % 700 + 1, values.size() - at);
      pieces.add(&values[at], size);
      parts[random() % 3].add(&values[at], size);
      at += size;
    }
    EXPECT_TRUE(pieces == whole) << seed;
    Histogram merged;
    for (const Histogram &part : {parts[2], parts[0], Histogram(), parts[1]})
      merged.merge(part);
    EXPECT_TRUE(merged == whole) << seed;
    values[0] = values[0] == whole.max() / 2 ? 0 : whole.max() / 2;
    EXPECT_FALSE(count(values) == whole) << "can tell";
  }
}

TEST(Histogram, BinsHoldWhatTheySay) {
  std::vector<float> values = makeValues(20000, 7);
  const Histogram histogram = count(values);
  std::sort(values.begin(), values.end());
  EXPECT_EQ(histogram.min(), values.front());
  EXPECT_EQ(histogram.max(), values.back());
  const double most = std::max(-values.front(), values.back());
  uint64_t total = 0;
  double last = -HUGE_VAL;
  histogram.forEachBin([&](double low, double high, uint64_t count) {
    EXPECT_GE(low, last);
    EXPECT_LE(high - low, most / 1024);
    last = high;
    auto begin = std::lower_bound(values.begin(), values.end(), float(low));
    auto end = std::upper_bound(values.begin(), values.end(), float(high));
    EXPECT_GE(uint64_t(end - begin), count) << low << " to " << high;
    total += count;
  });
  EXPECT_EQ(total, values.size());
  EXPECT_EQ(histogram.count(), values.size());
}

TEST(Histogram, KnowsWhatIsNotFinite) {
  const float infinity = HUGE_VALF, nan = NAN;
  std::vector<float> values = {1, -infinity, nan, 2, infinity, -nan, -3};
  Histogram histogram = count(values);
  EXPECT_EQ(histogram.count(), 3u);
  EXPECT_EQ(histogram.countNotFinite(), 4u);
  EXPECT_EQ(histogram.min(), -3);
  EXPECT_EQ(histogram.max(), 2);
  EXPECT_TRUE(count({nan}).count() == 0 && count({nan}).max() == 0);
  histogram = count({FLT_MAX, -FLT_MAX});
  double low = 0, high = 0;
  histogram.forEachBin([&](double from, double to, uint64_t) {
    low = std::min(low, from);
    high = std::max(high, to);
  });
  EXPECT_EQ(low, -double(FLT_MAX));
  EXPECT_EQ(high, double(FLT_MAX));
}

TEST(Histogram, OfNothingAndOfTheSmallest) {
  Histogram none;
  none.forEachBin([](double, double, uint64_t) { ADD_FAILURE(); });
  EXPECT_EQ(none.min(), 0);
  none.merge(Histogram());
  EXPECT_TRUE(none == Histogram());
  Histogram tiny = count({1e-45f, -0.0f, 0.0f});
  EXPECT_EQ(tiny.max(), 1e-45f);
  EXPECT_EQ(tiny.min(), 0);
  EXPECT_FALSE(std::signbit(tiny.min()));
}

} // namespace
