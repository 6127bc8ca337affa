//===- OptionDefaultsTest.cpp - defaults of options and of structs --------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "base/OptionTable.h"
#include "compiler/quantize/Methods.h"
#include "compiler/study/compare/Comparison.h"
#include "compiler/study/compare/Verdict.h"
#include "compiler/study/metric/Judge.h"

#include <gtest/gtest.h>

#include <stdlib.h>

using namespace ingot;
using namespace ingot::study;

namespace {

double numberOf(const std::string &text) {
  return strtod(text.c_str(), nullptr);
}

Verdict::Kind verdictOf(double error) {
  return judgeErrors({SampleErrors{1, {{1, error * error}}}}, {"y"}).kind;
}

TEST(OptionDefaults, VerdictHasTheBoundOfCalibrate) {
  const double bound = numberOf(cli::CalibrateFlags().maxError);
  EXPECT_GT(bound, 0);
  EXPECT_EQ(verdictOf(0.99 * bound), Verdict::Kind::doubtful);
  EXPECT_EQ(verdictOf(1.01 * bound), Verdict::Kind::useless);
}

TEST(OptionDefaults, StructsHaveTheDefaultsOfOptions) {
  EXPECT_EQ(numberOf(cli::CalibrateFlags().percentile),
            quantize::kUsualPercentile);
  EXPECT_EQ(cli::CompileFlags().metricLimit, JudgeOptions().seconds);
  EXPECT_EQ(cli::CompareFlags().metricLimit, CompareOptions().metricSeconds);
}

} // namespace
