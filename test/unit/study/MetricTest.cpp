//===- MetricTest.cpp - scores of outputs ---------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/metric/Metric.h"
#include "compiler/study/metric/Boxes.h"
#include "compiler/study/metric/MetricName.h"

#include <gtest/gtest.h>

#include <cmath>
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

TEST(Metric, FindsTheNearestOtherVector) {
  const std::unique_ptr<Metric> metric = metricOf("retrieval");
  const Array rows = arrayOf({2, 2}, {1, 0, 0.9f, 0.1f}),
              more = arrayOf({3, 2}, {0, 5, 0.1f, 1, 2, 3});
  const Labels labels = {{7, 7, 3, 3, 3}, {5}, true};
  Sums all;
  auto add = [&](const Array &output, std::vector<double> given) {
    ASSERT_EQ(metric->numLabels(labels, output), given.size());
    metric->add(
        all, metric->compare(metric->targetOf(given, labels, output), output));
  };
  add(rows, {7, 7});
  EXPECT_EQ(metric->score(all), 100);
  add(more, {3, 3, 3});
  // The vector (2, 3) is nearest to (0.1, 1).
  EXPECT_EQ(metric->score(all), 100);
  // A vector of NaN is near to none.
  add(arrayOf({1, 2}, {NAN, 1}), {3});
  EXPECT_NEAR(metric->score(all), 500.0 / 6, 1e-9);
  // A group of one vector is never right.
  add(arrayOf({1, 2}, {-1, 0}), {9});
  EXPECT_NEAR(metric->score(all), 500.0 / 7, 1e-9);
  EXPECT_TRUE(metric->isOfAllSamples());
  EXPECT_TRUE(metric->needsLabels());
  EXPECT_TRUE(metric->compare({{1}, 1}, rows).empty());
  EXPECT_NE(metric->checkOutput(arrayOf({2, 1}, {0, 0})), "");
  // Rows of length 1 with a number for each are embeddings.
  const Labels groups = {{0, 1}, {2}, true};
  EXPECT_EQ(chosenFor(arrayOf({2, 2}, {0.6f, -0.8f, 1, 0}), &groups),
            "retrieval");
  EXPECT_EQ(chosenFor(arrayOf({2, 2}, {0, 1, 1, 0}), &groups), "argmax");
}

TEST(Metric, DescribesMeasuredValues) {
  const std::unique_ptr<Metric> metric = metricOf("regression");
  const Sums sums =
      metric->compare(metric->targetOf(arrayOf({4, 1}, {1, 2, 3, 4})),
                      arrayOf({4, 1}, {2, 3, 4, 5}));
  const std::vector<Detail> details = metric->details(sums);
  ASSERT_EQ(details.size(), 3u);
  EXPECT_EQ(details[0].name, "mean_absolute_error");
  EXPECT_NEAR(details[0].value, 1, 1e-9);
  EXPECT_EQ(details[1].name, "relative_error");
  EXPECT_NEAR(details[1].value, std::sqrt(4.0 / 30), 1e-9);
  EXPECT_EQ(details[2].name, "correlation");
  EXPECT_NEAR(details[2].value, 1, 1e-9);
}

TEST(Metric, MatchesBoxes) {
  const std::unique_ptr<Metric> metric = metricOf("detection");
  const Labels labels = {
      {0, 0, 10, 10, 1, 20, 20, 30, 30, 2, 0, 0, 0, 0, -1}, {1, 3, 5}, true};
  auto scoreOfBoxes = [&](std::vector<float> rows) {
    const Array found =
        arrayOf({1, int64_t(rows.size()) / 6, 6}, std::move(rows));
    EXPECT_EQ(metric->numLabels(labels, found), 15u);
    return metric->score(
        metric->compare(metric->targetOf(labels.values, labels, found), found));
  };
  // Both boxes are found. An overlap of 0.5 is enough.
  EXPECT_EQ(scoreOfBoxes({0, 0, 10, 5, 0.9f, 1, 20, 20, 30, 30, 0.8f, 2}), 100);
  // A box of another class, one with little overlap, and a second match.
  EXPECT_EQ(scoreOfBoxes({0, 0, 10, 10, 0.9f, 1, 20, 20, 30, 30, 0.8f, 1}), 50);
  EXPECT_EQ(scoreOfBoxes({0, 0, 10, 10, 0.9f, 1, 20, 20, 30, 24, 0.8f, 2}), 50);
  EXPECT_EQ(scoreOfBoxes({0, 0, 10, 10, 0.9f, 1, 0, 0, 10, 10, 0.8f, 1}), 50);
  // A wrong box costs precision only if its score is above that of a right one.
  // Here recall 1/2 has precision 1/2, and recall 1 has precision 2/3.
  EXPECT_NEAR(scoreOfBoxes({50, 50, 60, 60, 0.9f, 1, 0, 0, 10, 10, 0.8f, 1, 20,
                            20, 30, 30, 0.7f, 2}),
              100 * 2.0 / 3, 1e-9);
  EXPECT_EQ(scoreOfBoxes({50, 50, 60, 60, 0.1f, 1, 0, 0, 10, 10, 0.8f, 1, 20,
                          20, 30, 30, 0.7f, 2}),
            100);
  EXPECT_EQ(scoreOfBoxes({}), 0);
  EXPECT_NE(metric->checkLabels({{1, 2}, {1, 2}, true}, arrayOf({0, 6}, {})),
            "");
  EXPECT_NE(metric->checkLabels({{5, 0, 1, 1, 0}, {1, 1, 5}, true},
                                arrayOf({0, 6}, {})),
            "");
}

TEST(Metric, FindsBoxes) {
  const Array boxes = arrayOf({1, 2, 4}, {0, 0, 1, 1, 2, 2, 3, 3});
  const Array scores = arrayOf({1, 2}, {0.9f, 0.8f});
  const Array classes = arrayOf({1, 2}, {3, 4});
  const Array count = arrayOf({1}, {2});
  const std::vector<Array> outputs = {count, scores, classes, boxes};
  const std::vector<std::string> names = {"num", "conf", "class_ids", "boxes"};
  const std::optional<BoxOutputs> found =
      findBoxes(outputs, names, {0, 1, 2, 3});
  ASSERT_TRUE(found && found->scores && found->classes);
  EXPECT_EQ(found->boxes, 3u);
  EXPECT_EQ(*found->scores, 1u);
  EXPECT_EQ(*found->classes, 2u);
  llvm::Expected<Array> packed = packBoxes(outputs, *found);
  ASSERT_TRUE(bool(packed));
  EXPECT_EQ(packed->dims, (std::vector<int64_t>{1, 2, 6}));
  std::vector<float> values(12);
  memcpy(values.data(), packed->data.data(), packed->data.size());
  EXPECT_EQ(values,
            (std::vector<float>{0, 0, 1, 1, 0.9f, 3, 2, 2, 3, 3, 0.8f, 4}));
  // Rows of the image, the corners, the class and the score.
  const std::vector<Array> rows = {
      arrayOf({3, 7}, {0, 1, 2, 3, 4, 7, 0.5f, 1, 1, 2, 3, 4, 8, 0.25f, //
                       1, 5, 6, 7, 8, 9, 1})};
  llvm::Expected<Array> images =
      packBoxes(rows, *findBoxes(rows, {"output"}, {0}));
  ASSERT_TRUE(bool(images));
  EXPECT_EQ(images->dims, (std::vector<int64_t>{2, 2, 6}));
  EXPECT_FALSE(findBoxes({scores, classes}, {"a", "b"}, {0, 1}));
}

TEST(Metric, NamesHaveOutputsAndCommands) {
  auto parsed = [](const char *text) {
    llvm::Expected<MetricName> found = parseMetric(text);
    EXPECT_TRUE(bool(found)) << text;
    return found ? *found : MetricName();
  };
  EXPECT_EQ(parsed("argmax:1@a:b@c").metric, "argmax:1");
  EXPECT_EQ(parsed("argmax:1@a:b@c").outputs,
            (std::vector<std::string>{"a:b@c"}));
  EXPECT_EQ(parsed("argmax@/head/out 1").outputs,
            (std::vector<std::string>{"/head/out 1"}));
  EXPECT_EQ(parsed("@y").metric, "");
  EXPECT_EQ(parsed("detection:0.75@b,s,c").outputs,
            (std::vector<std::string>{"b", "s", "c"}));
  EXPECT_EQ(parsed("python3 score.py").command, "python3 score.py");
  EXPECT_EQ(parsed("./score").command, "./score");
  for (const char *name : {"accuracy", "argmax:1/2", "argmax@", "f1@y",
                           "detection@b,s", "detection:0", "detection:2"}) {
    llvm::Expected<MetricName> found = parseMetric(name);
    EXPECT_FALSE(bool(found)) << name;
    llvm::consumeError(found.takeError());
  }
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
