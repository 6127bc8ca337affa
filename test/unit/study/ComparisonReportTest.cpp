//===- ComparisonReportTest.cpp - text and JSON of a comparison -----------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/compare/ComparisonReport.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace ingot;
using namespace ingot::study;

namespace {

Comparison comparison() {
  Comparison result;
  result.samples = 2;
  result.precision = "int8";
  ComparedOutput output;
  output.name = "y";
  output.difference.add(3, 3);
  output.difference.add(4, 4.5);
  result.outputs = {output};
  return result;
}

TEST(ComparisonReport, Outputs) {
  EXPECT_EQ(textReport({}, comparison()),
            "2 samples, int8 against fp32\n"
            "  output  relative error  cosine    largest error  same largest\n"
            "  y       0.100000        0.998460  0.5            -\n"
            "verdict: good, no output has a relative error above 0.07\n");
  tools::Json json = jsonReport({}, comparison());
  EXPECT_EQ(json["reference"], "fp32");
  EXPECT_EQ(json["outputs"][0]["largest_error"], 0.5);
  EXPECT_FALSE(json.contains("within_tolerance"));
  EXPECT_FALSE(json.contains("tensors"));
}

TEST(ComparisonReport, Verdicts) {
  auto verdict = [](double error) {
    Comparison result = comparison();
    result.verdict = judgeErrors({{1, {{1, error * error}}}}, {"y"});
    return textReport({}, result);
  };
  EXPECT_NE(verdict(0.06).find("verdict: good, no output"), std::string::npos);
  EXPECT_NE(verdict(0.1).find("verdict: doubtful, output 'y' has a relative "
                              "error of 0.1: labels and --metric"),
            std::string::npos);
  EXPECT_NE(verdict(0.5).find("verdict: useless, output 'y' has a relative "
                              "error of 0.5: use another precision"),
            std::string::npos);
  EXPECT_NE(verdict(NAN).find("verdict: not finite, output 'y' is infinite"),
            std::string::npos);
  // A score or a tolerance is a verdict.
  CompareOptions options;
  options.tolerance.output = 1;
  EXPECT_EQ(textReport(options, comparison()).find("verdict"),
            std::string::npos);
  EXPECT_EQ(jsonReport(options, comparison())["verdict"]["name"], "good");
}

TEST(ComparisonReport, Tolerance) {
  CompareOptions options;
  options.tolerance.absolute = 0.1;
  Comparison result = comparison();
  Excess &excess = result.outputs[0].excess;
  excess.count = excess.place = 1;
  excess.wanted = 4;
  excess.got = 4.5;
  excess.where = "sample 'a'";
  result.outputs[0].isBeyond = true;
  EXPECT_NE(textReport(options, result)
                .find("output 'y': 1 of 2 elements are beyond the tolerance, "
                      "the first is element 1 of sample 'a': 4.5, but 4 in the "
                      "reference\n"),
            std::string::npos);
  tools::Json json = jsonReport(options, result);
  EXPECT_EQ(json["within_tolerance"], false);
  EXPECT_EQ(json["outputs"][0]["elements_beyond"], 1);
}

TEST(ComparisonReport, WorstTensorFirst) {
  Comparison result = comparison();
  ComparedTensor good{"good", {}}, bad{"bad", {}};
  good.difference.add(1, 1);
  bad.difference.add(1, 2);
  result.tensors = {good, bad};
  const std::string text = textReport({}, result);
  EXPECT_LT(text.find("  bad "), text.find("  good "));
  // JSON keeps the model's order.
  EXPECT_EQ(jsonReport({}, result)["tensors"][0]["name"], "good");
}

} // namespace
