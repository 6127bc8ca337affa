//===- RepairTimesTest.cpp - which repairs fit into the time --------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/repair/RepairTimes.h"

#include <gtest/gtest.h>

using namespace ingot::study;

namespace {

/// Returns the names of the repairs that fit, each after the time of the others
/// is gone.
std::vector<RepairKind> fitting(const RepairTimes &times, double passed) {
  std::vector<RepairKind> found;
  for (RepairKind kind : {RepairKind::equalize, RepairKind::smooth,
                          RepairKind::bias, RepairKind::keep})
    if (times.fits(kind, times.left(passed, changesRanges(kind))))
      found.push_back(kind);
  return found;
}

/// Returns the times of a model whose runs take `ms`.
RepairTimes timesOf(double ms, uint64_t samples, size_t tensors) {
  const double runs = 1e-3 * ms * double(samples);
  RepairTimes times({/*compiling=*/1, 1.3 * runs, runs}, samples, tensors);
  times.measurement = 1 + 0.5e-3 * ms * 32;
  return times;
}

TEST(RepairTimes, AllFitIfRunsAreFast) {
  const RepairTimes times = timesOf(2, 100, 50);
  EXPECT_EQ(fitting(times, times.measurement).size(), 4u);
  EXPECT_EQ(times.numLearnt(), 128u);
  EXPECT_EQ(times.numForLayers(10, 0.003), 8u);
}

TEST(RepairTimes, KeepComesBeforeRepairsThatTakeLong) {
  const RepairTimes times = timesOf(150, 60, 14);
  EXPECT_EQ(times.numLearnt(), 16u);
  const std::vector<RepairKind> found = fitting(times, times.measurement);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.back(), RepairKind::keep);
  EXPECT_NE(found.front(), RepairKind::equalize);
  const unsigned samples =
      times.numForLayers(times.left(times.measurement, false), 0.225);
  EXPECT_GE(samples, 2u);
  EXPECT_LT(samples, 8u);
}

TEST(RepairTimes, NothingFitsIfRunsAreTooSlow) {
  EXPECT_TRUE(fitting(timesOf(5000, 12, 100), 60).empty());
}

TEST(RepairTimes, TheWholeIsBounded) {
  for (double ms : {1.0, 20.0, 150.0, 1000.0, 5000.0}) {
    const double inference = 1e-3 * ms * 100;
    // The compilation takes a second.
    EXPECT_LE(1 + 1.3 * inference + timesOf(ms, 100, 20).all(),
              3 * inference + 20);
  }
}

} // namespace
