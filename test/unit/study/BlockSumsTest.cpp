//===- BlockSumsTest.cpp - how certain a difference of scores is ----------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/metric/BlockSums.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace ingot::study;

namespace {

std::unique_ptr<Metric> argmax() {
  llvm::Expected<std::unique_ptr<Metric>> found = findMetric("argmax");
  EXPECT_TRUE(bool(found));
  return std::move(*found);
}

/// Adds `count` samples of one row; every `step`-th is wrong.
BlockSums samples(size_t count, size_t step) {
  const std::unique_ptr<Metric> metric = argmax();
  BlockSums sums;
  for (size_t i = 0; i < count; ++i)
    sums.add(*metric, {i % step == 0 ? 0.0 : 1.0, 1.0});
  return sums;
}

TEST(BlockSums, EqualModelsDifferForCertain) {
  EXPECT_EQ(*errorOfDifference(*argmax(), samples(50, 7), samples(50, 7)), 0);
}

TEST(BlockSums, FollowsTheNumberOfOtherResults) {
  // Every 20th of 100 samples is right in one model only.
  const double few =
      *errorOfDifference(*argmax(), samples(100, 1000), samples(100, 20));
  EXPECT_NEAR(few, 100 * std::sqrt(0.05 * 0.95 / 100), 0.4);
  // Twice as few in four times as many samples, which share blocks.
  const double many =
      *errorOfDifference(*argmax(), samples(410, 1000), samples(410, 41));
  EXPECT_NEAR(many, 100 * std::sqrt(0.025 * 0.975 / 410), 0.2);
}

TEST(BlockSums, NeedsTwoBlocksOfEqualSamples) {
  EXPECT_FALSE(errorOfDifference(*argmax(), samples(1, 2), samples(1, 3)));
  EXPECT_FALSE(errorOfDifference(*argmax(), samples(9, 2), samples(8, 3)));
}

} // namespace
