//===- SampleSurveyTest.cpp - survey of sample sizes ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "client/inputs/SampleSurvey.h"

#include <gtest/gtest.h>

#include <set>

using namespace ingot::tools;

namespace {

/// Makes samples of one size, except those in `large`.
SampleSurvey survey(uint64_t count, const std::set<uint64_t> &large = {},
                    uint64_t bytes = 0) {
  SampleSurvey seen(2);
  for (uint64_t i = 0; i < count; ++i) {
    seen.see(0, large.count(i) ? 30 : 1 + double(i % 7) / 20);
    seen.see(1, 6);
    seen.endSample(bytes);
  }
  return seen;
}

std::set<uint64_t> numbers(const std::vector<PickedSample> &picked) {
  std::set<uint64_t> found;
  for (const PickedSample &one : picked)
    found.insert(one.number);
  EXPECT_EQ(found.size(), picked.size());
  return found;
}

TEST(SampleSurvey, AllWhereThereAreFew) {
  for (uint64_t count : {1, 5, 8}) {
    const std::vector<PickedSample> picked = survey(count, {3}).pick(8);
    ASSERT_EQ(picked.size(), count);
    for (uint64_t i = 0; i < count; ++i) {
      EXPECT_EQ(picked[i].number, i);
      EXPECT_EQ(picked[i].weight, 1);
    }
  }
}

TEST(SampleSurvey, FindsFarSamples) {
  std::optional<FarSamples> found = survey(100, {17}).findFar(0, 16);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->count, 1u);
  EXPECT_EQ(found->first, 17u);
  EXPECT_EQ(found->magnitude, 30);
  EXPECT_DOUBLE_EQ(found->others, 1.3);
  EXPECT_FALSE(survey(100, {17}).findFar(0, 32));
  EXPECT_FALSE(survey(100, {17}).findFar(1, 16));
  found = survey(100, {40, 17, 90}).findFar(0, 16);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->count, 3u);
  EXPECT_EQ(survey(100, {40}).findLargest(0), 40u);
  EXPECT_EQ(found->first, 17u);
  // A quarter of the samples is no exception.
  EXPECT_FALSE(survey(8, {1, 3, 5}).findFar(0, 16));
}

TEST(SampleSurvey, OneHugeSampleHidesNoOthers) {
  SampleSurvey seen(1);
  for (uint64_t i = 0; i < 200; ++i) {
    seen.see(0, i == 150 ? 1e30 : i == 20 || i == 90 ? 1e9 : 1);
    seen.endSample();
  }
  const std::set<uint64_t> picked = numbers(seen.pick(16));
  for (uint64_t number : {20, 90, 150})
    EXPECT_TRUE(picked.count(number));
}

TEST(SampleSurvey, SpreadOverAll) {
  for (uint64_t count : {9, 15, 64, 1000}) {
    const std::vector<PickedSample> picked = survey(count).pick(8);
    ASSERT_EQ(picked.size(), 8u);
    numbers(picked);
    for (uint64_t i = 0; i < 8; ++i) {
      EXPECT_GE(picked[i].number, i * count / 8);
      EXPECT_LT(picked[i].number, (i + 1) * count / 8);
      EXPECT_DOUBLE_EQ(picked[i].weight, double(count) / 8);
    }
  }
}

TEST(SampleSurvey, DataThatRepeatsItself) {
  std::set<uint64_t> classes;
  for (uint64_t number : numbers(survey(640).pick(8)))
    classes.insert(number % 8);
  EXPECT_GE(classes.size(), 4u);
}

TEST(SampleSurvey, WhatStandsOut) {
  for (const std::set<uint64_t> &large :
       {std::set<uint64_t>{0}, {63}, {45}, {7, 8, 45}, {10, 20, 30, 40}}) {
    const std::vector<PickedSample> picked = survey(64, large).pick(8);
    ASSERT_EQ(picked.size(), 8u);
    const std::set<uint64_t> found = numbers(picked);
    double sum = 0;
    for (const PickedSample &one : picked) {
      EXPECT_LT(one.number, 64u);
      EXPECT_EQ(one.weight == 1, large.count(one.number) == 1);
      sum += one.weight;
    }
    EXPECT_DOUBLE_EQ(sum, 64);
    for (uint64_t number : large)
      EXPECT_EQ(found.count(number), 1u) << number;
  }
}

TEST(SampleSurvey, OthersAreLeftRoomFor) {
  const std::vector<PickedSample> picked =
      survey(640, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}).pick(4);
  ASSERT_EQ(picked.size(), 4u);
  EXPECT_EQ(picked[1].weight, 1);
  EXPECT_GT(picked[3].number, 320u);
}

TEST(SampleSurvey, Bytes) {
  EXPECT_EQ(survey(64, {45}, 100).pick(8, 399).size(), 3u);
  EXPECT_EQ(survey(64, {45}, 100).pick(8, 50).size(), 1u);
  EXPECT_EQ(survey(64, {45}, 100).pick(8, 5000).size(), 8u);
}

} // namespace
