//===- ComparisonReportTest.cpp - text and JSON of a comparison -----------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/compare/ComparisonReport.h"

#include <gtest/gtest.h>

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
            "  y       0.100000        0.998460  0.5            -\n");
  tools::Json json = jsonReport({}, comparison());
  EXPECT_EQ(json["reference"], "fp32");
  EXPECT_EQ(json["outputs"][0]["largest_error"], 0.5);
  EXPECT_FALSE(json.contains("within_tolerance"));
  EXPECT_FALSE(json.contains("tensors"));
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
