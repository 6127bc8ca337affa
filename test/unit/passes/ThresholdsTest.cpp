//===- ThresholdsTest.cpp - tables of thresholds --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/policy/Thresholds.h"
#include "passes/support/Thresholds.h"

#include "llvm/ADT/StringSet.h"

#include <gtest/gtest.h>

using namespace ingot;
using llvm::StringRef;

namespace {

struct Row {
  StringRef name, unit, measured, meaning;
};

constexpr Row kCpuRows[] = {
#define INGOT_THRESHOLD(NAME, VALUE, UNIT, MEASURED, MEANING)                  \
  {#NAME, UNIT, MEASURED, MEANING},
#define INGOT_CACHE_SHARE(NAME, CACHE, NUMERATOR, DENOMINATOR, UNIT, MEASURED, \
                          MEANING)                                             \
  {#NAME, UNIT, MEASURED, MEANING},
#include "passes/cpu/policy/Thresholds.inc"
};

constexpr Row kSharedRows[] = {
#define INGOT_THRESHOLD(NAME, VALUE, UNIT, MEASURED, MEANING)                  \
  {#NAME, UNIT, MEASURED, MEANING},
#define INGOT_CACHE_SHARE(NAME, CACHE, NUMERATOR, DENOMINATOR, UNIT, MEASURED, \
                          MEANING)                                             \
  {#NAME, UNIT, MEASURED, MEANING},
#include "passes/support/Thresholds.inc"
};

/// Checks the rows of both tables, which have no name in common.
TEST(Thresholds, RowsAreWhole) {
  llvm::StringSet<> names;
  for (llvm::ArrayRef<Row> rows :
       {llvm::ArrayRef(kSharedRows), llvm::ArrayRef(kCpuRows)})
    for (const Row &row : rows) {
      EXPECT_TRUE(names.insert(row.name).second)
          << row.name.str() << " is there twice";
      EXPECT_FALSE(row.unit.empty()) << row.name.str();
      EXPECT_FALSE(row.measured.empty()) << row.name.str();
      EXPECT_FALSE(row.meaning.empty()) << row.name.str();
      EXPECT_FALSE(row.meaning.ends_with(".")) << row.name.str();
    }
}

TEST(Thresholds, SharesFollowTheCache) {
  TargetNumbers usual, large;
  large.l2 = 2 * usual.l2;
  EXPECT_EQ(threshold::chainedImages(usual), 512 << 10);
  EXPECT_EQ(threshold::chainedImages(large), 1 << 20);
  EXPECT_EQ(cpu::threshold::scaledFloats(usual), 1 << 20);
  EXPECT_EQ(cpu::threshold::farWeights(usual), 2 << 20);
}

} // namespace
