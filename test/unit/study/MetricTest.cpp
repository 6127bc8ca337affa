//===- MetricTest.cpp - scores of outputs ---------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/metric/Metric.h"

#include <gtest/gtest.h>

#include <string.h>

using namespace ingot;
using namespace ingot::study;

namespace {

Array arrayOf(std::vector<int64_t> dims, std::vector<float> values) {
  Array array{INGOT_FLOAT, std::move(dims), {}, {}};
  array.data.resize(values.size() * sizeof(float));
  memcpy(array.data.data(), values.data(), array.data.size());
  return array;
}

std::unique_ptr<Metric> metricOf(const char *name) {
  llvm::Expected<std::unique_ptr<Metric>> found = findMetric(name);
  EXPECT_TRUE(bool(found)) << name;
  return found ? std::move(*found) : nullptr;
}

/// Returns the score of `got` if `wanted` is right, by way of output targets.
double scoreOf(const char *name, const Array &wanted, const Array &got) {
  const std::unique_ptr<Metric> metric = metricOf(name);
  return metric->score(metric->compare(metric->targetOf(wanted), got));
}

std::string chosenFor(const Array &output, const Labels *labels = nullptr) {
  llvm::Expected<std::unique_ptr<Metric>> found = chooseMetric(output, labels);
  return found ? (*found)->name() : llvm::toString(found.takeError());
}

TEST(Metric, CountsRightClassesAlongAnAxis) {
  const Array wanted = arrayOf({1, 2, 3}, {1, 5, 2, 4, 3, 9});
  const Array got = arrayOf({1, 2, 3}, {1, 2, 2, 4, 3, 1});
  // Along dimension 1: 1, 0, 1 against 1, 1, 0.
  EXPECT_NEAR(scoreOf("argmax:1", wanted, got), 100.0 / 3, 1e-9);
  // Along the last dimension: 1, 2 against 1 (the first of equals), 0.
  EXPECT_NEAR(scoreOf("argmax", wanted, got), 50, 1e-9);
  EXPECT_NE(metricOf("argmax:3")->checkOutput(wanted), "");
  EXPECT_EQ(metricOf("argmax:-3")->checkOutput(wanted),
            "has one number for each result");
}

TEST(Metric, TheWorstColumnCounts) {
  const Array wanted = arrayOf({4, 2}, {0, 0, 1, 10, 2, 20, 3, 30});
  const Array got = arrayOf({4, 2}, {0, 0, 1, 10, 2, 20, 3, 20});
  // The spread of the second column is 500, and its squared error is 100.
  EXPECT_NEAR(scoreOf("regression", wanted, got), 80, 1e-9);
  EXPECT_EQ(scoreOf("regression", wanted, wanted), 100);
  // Constant values are judged by their size.
  EXPECT_NEAR(scoreOf("regression", arrayOf({2}, {3, 3}), arrayOf({2}, {3, 0})),
              50, 1e-9);
}

TEST(Metric, ComputesF1) {
  const Array wanted = arrayOf({4}, {0.9f, 0.8f, 0.1f, 0.2f});
  const Array got = arrayOf({4}, {0.9f, 0.3f, 0.1f, 0.7f});
  EXPECT_NEAR(scoreOf("multilabel", wanted, got), 50, 1e-9);
  EXPECT_NEAR(scoreOf("multilabel:0.25", wanted, got), 80, 1e-9);
  EXPECT_EQ(scoreOf("multilabel:2", wanted, got), 100);
}

TEST(Metric, ComparesSequences) {
  // Greedy CTC: blanks are dropped, and repeated classes count once.
  auto steps = [](std::vector<int> classes) {
    std::vector<float> values(classes.size() * 4);
    for (size_t i = 0; i < classes.size(); ++i)
      values[4 * i + size_t(classes[i])] = 1;
    return arrayOf({1, int64_t(classes.size()), 4}, values);
  };
  const Array wanted = steps({0, 1, 1, 0, 1, 2, 3});
  EXPECT_EQ(scoreOf("sequence", wanted, steps({1, 0, 1, 2, 0, 3, 3})), 100);
  EXPECT_NEAR(scoreOf("sequence", wanted, steps({1, 0, 0, 2, 2, 0, 3})), 75,
              1e-9);
  // Labels are padded with blanks or negative numbers.
  const std::unique_ptr<Metric> metric = metricOf("sequence");
  const Labels labels = {{1, 1, 2, 3, -1, 0}, {1, 6}, true};
  const Array got = steps({1, 0, 1, 2, 3, 0, 0});
  ASSERT_EQ(metric->numLabels(labels, got), 6u);
  EXPECT_EQ(metric->score(metric->compare(
                metric->targetOf(labels.values, labels, got), got)),
            100);
  EXPECT_EQ(chosenFor(got, &labels), "sequence");
  EXPECT_NE(metric->checkOutput(arrayOf({2, 2}, {0, 0, 0, 0})), "");
}

TEST(Metric, ComparesVectors) {
  const Array wanted = arrayOf({2, 2}, {1, 0, 0, 2});
  EXPECT_NEAR(scoreOf("cosine", wanted, arrayOf({2, 2}, {3, 0, 2, 0})), 50,
              1e-9);
  EXPECT_EQ(scoreOf("cosine", arrayOf({1, 2}, {0, 0}), arrayOf({1, 2}, {0, 0})),
            100);
}

TEST(Metric, OtherSizesCannotBeCompared) {
  for (const char *name : {"argmax", "regression", "multilabel", "cosine"}) {
    const std::unique_ptr<Metric> metric = metricOf(name);
    const Target target = metric->targetOf(arrayOf({1, 2}, {0, 1}));
    EXPECT_TRUE(metric->compare(target, arrayOf({2, 2}, {0, 1, 0, 1})).empty());
    EXPECT_EQ(metric->score(metric->perfect(target)), 100) << name;
  }
}

TEST(Metric, IsChosenByValues) {
  EXPECT_EQ(chosenFor(arrayOf({1, 3}, {0.2f, 0.5f, 0.3f})), "argmax");
  EXPECT_EQ(chosenFor(arrayOf({1, 3}, {0, 1, 0})), "argmax");
  EXPECT_EQ(chosenFor(arrayOf({1, 3}, {0.2f, 0.9f, 0.7f})), "multilabel");
  EXPECT_EQ(chosenFor(arrayOf({1, 3}, {0.6f, -0.8f, 0})), "cosine");
  EXPECT_EQ(chosenFor(arrayOf({1, 3}, {3.1f, 2.8f, 4})), "regression");
  EXPECT_EQ(chosenFor(arrayOf({1}, {7})), "regression");
  EXPECT_EQ(chosenFor(arrayOf({1, 8}, {1, 2, 3, 4, 5, 6, 7, 8})), "argmax");
}

TEST(Metric, NamesAreChecked) {
  for (const char *name : {"", "argmax:", "argmax:x", "sequence:-1", "f1",
                           "multilabel:nan", "regression:1", "cosine:2"}) {
    llvm::Expected<std::unique_ptr<Metric>> found = findMetric(name);
    ASSERT_FALSE(bool(found)) << name;
    EXPECT_NE(llvm::toString(found.takeError()).find("use argmax"),
              std::string::npos);
  }
}

} // namespace
