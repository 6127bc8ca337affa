//===- RangesTest.cpp - ranges of methods ---------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/quantize/Ranges.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

using namespace ingot::quantize;

namespace {

Histogram count(const std::vector<float> &values) {
  Histogram histogram;
  histogram.add(values.data(), values.size());
  return histogram;
}

std::vector<float> makeNormal(size_t count, float outlier) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float &value : values)
    value = normal(random);
  values[0] = outlier;
  return values;
}

/// Returns the mean squared error of bytes.
double errorOf(const std::vector<float> &values, Range range) {
  const Encoding encoding = encode(range);
  double sum = 0;
  for (float value : values) {
    double byte = std::clamp(std::nearbyint(double(value) / encoding.scale) +
                                 encoding.zeroPoint,
                             0.0, 255.0);
    double error = (byte - encoding.zeroPoint) * encoding.scale - value;
    sum += error * error;
  }
  return sum / double(values.size());
}

TEST(Ranges, EncodingsKeepZero) {
  auto is = [](Range range, float scale, int zeroPoint) {
    const Encoding encoding = encode(range);
    EXPECT_EQ(encoding.scale, scale) << range.min << " " << range.max;
    EXPECT_EQ(int(encoding.zeroPoint), zeroPoint);
  };
  is({0, 255}, 1, 0);
  is({-255, 0}, 1, 255);
  is({-1, 1}, float(2.0 / 255), 128); // 127.5 rounds to even
  is({3, 51}, float(51.0 / 255), 0);  // the range must contain 0
  is({-51, -3}, float(51.0 / 255), 255);
  is({0, 0}, 1, 0);
  is({0, 1e-38}, 1, 0); // the scale would not be a normal number
}

TEST(Ranges, PercentilesCutBothEnds) {
  std::vector<float> values;
  for (int i = -1000; i <= 9000; ++i)
    values.push_back(float(i));
  const Histogram histogram = count(values);
  Range range = percentileRange(histogram, 100);
  EXPECT_EQ(range.min, -1000);
  EXPECT_EQ(range.max, 9000);
  range = percentileRange(histogram, 90);
  EXPECT_NEAR(range.min, -500, 2 * 9000.0 / 1024);
  EXPECT_NEAR(range.max, 8500, 2 * 9000.0 / 1024);
  range = percentileRange(count({0, 0, 0, 0}), 99);
  EXPECT_EQ(range.min, 0);
  EXPECT_EQ(range.max, 0);
}

TEST(Ranges, LeastSquaresCutWhatIsFarAway) {
  // Clipping costs little if only one of 20,000 values is an outlier.
  std::vector<float> values = makeNormal(20000, 40);
  const Histogram histogram = count(values);
  const Range all = minMaxRange(histogram), found = mseRange(histogram);
  EXPECT_EQ(all.max, 40);
  EXPECT_LT(errorOf(values, found), errorOf(values, all));
  // No smaller range has a smaller error, up to the resolution of the bins.
  for (int share = 1; share <= 64; ++share) {
    const double part = share / 64.0;
    EXPECT_GE(errorOf(values, {all.min * part, all.max * part}),
              0.99 * errorOf(values, found))
        << part;
  }
  // Values without outliers keep their range.
  std::vector<float> even;
  for (int i = 0; i < 10000; ++i)
    even.push_back(float(i) / 10000);
  EXPECT_GT(mseRange(count(even)).max, 0.98);
}

TEST(Ranges, EntropyCutsWhatIsFarAway) {
  const Range found = entropyRange(count(makeNormal(20000, 40)));
  EXPECT_LT(found.max, 12);
  EXPECT_GT(found.max, 2);
  EXPECT_GE(found.min, -12);
  const Range none = entropyRange(count({0, 0}));
  EXPECT_EQ(none.min, 0);
  EXPECT_EQ(none.max, 0);
  // A range is never larger than the observed one.
  const Range positive = entropyRange(count({1, 2, 3, 4}));
  EXPECT_EQ(positive.min, 1);
  EXPECT_LE(positive.max, 4);
}

} // namespace
