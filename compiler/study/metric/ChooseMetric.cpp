//===- ChooseMetric.cpp - the metric of an output -------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "client/Values.h"
#include "compiler/study/metric/Metric.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <algorithm>
#include <cmath>

using namespace ingot;
using namespace ingot::study;

/// Returns true if all numbers are from 0 to 1.
static bool areProbabilities(llvm::ArrayRef<double> values) {
  return llvm::all_of(values,
                      [](double value) { return value >= 0 && value <= 1; });
}

/// Returns true if `total` of each row of the last dimension is 1.
static bool
areRowsOne(llvm::ArrayRef<double> values, size_t size,
           llvm::function_ref<double(llvm::ArrayRef<double>)> total) {
  constexpr double kNear = 1e-3;
  for (size_t row = 0; row + size <= values.size(); row += size)
    if (!(std::abs(total(values.slice(row, size)) - 1) <= kNear))
      return false;
  return true;
}

static double sumOf(llvm::ArrayRef<double> row) {
  double sum = 0;
  for (double value : row)
    sum += value;
  return sum;
}

static double squareSumOf(llvm::ArrayRef<double> row) {
  double sum = 0;
  for (double value : row)
    sum += value * value;
  return sum;
}

/// Returns true if the rows of an output have length 1 and are no
/// probabilities.
static bool isEmbedding(const Array &output) {
  const std::vector<double> values = tools::toDoubles(output);
  const auto last = size_t(std::max<int64_t>(lastDimOf(output), 1));
  return last > 1 &&
         !(areProbabilities(values) && areRowsOne(values, last, sumOf)) &&
         areRowsOne(values, last, squareSumOf);
}

/// Chooses the metric by the number and the values of the labels.
static llvm::Expected<std::unique_ptr<Metric>>
chooseByLabels(const Array &output, const Labels &labels) {
  const uint64_t batch =
      output.dims.empty() ? 1 : uint64_t(std::max<int64_t>(output.dims[0], 1));
  const uint64_t elements = tools::elementCount(output) / batch;
  const uint64_t rows =
      elements / uint64_t(std::max<int64_t>(lastDimOf(output), 1));
  const uint64_t given = labels.rowSize();
  const bool areBits = llvm::all_of(
      labels.values, [](double value) { return value == 0 || value == 1; });
  // Negative numbers fill up sequences, possibly to one label for each step.
  const bool arePadded =
      output.dims.size() == 3 &&
      llvm::any_of(labels.values, [](double value) { return value < 0; });
  if (lastDimOf(output) > 1 && labels.areIntegers && given == rows &&
      !arePadded)
    return findMetric(isEmbedding(output) ? "retrieval" : "argmax");
  if (labels.areIntegers && areBits && given == elements &&
      areProbabilities(tools::toDoubles(output)))
    return findMetric("multilabel");
  if (given == elements)
    return findMetric("regression");
  if (labels.areIntegers && output.dims.size() == 3)
    return findMetric("sequence");
  return findMetric(lastDimOf(output) > 1 ? "argmax" : "regression");
}

llvm::Expected<std::unique_ptr<Metric>>
ingot::study::chooseMetric(const Array &output, const Labels *labels) {
  if (labels)
    return chooseByLabels(output, *labels);
  const std::vector<double> values = tools::toDoubles(output);
  const auto last = size_t(std::max<int64_t>(lastDimOf(output), 1));
  const bool areInRange = areProbabilities(values);
  if (areInRange && last > 1 && areRowsOne(values, last, sumOf))
    return findMetric("argmax");
  if (isEmbedding(output))
    return findMetric("cosine");
  if (areInRange)
    return findMetric("multilabel");
  // The most numbers of a row that are taken for measured values. More are
  // taken for the scores of classes.
  constexpr size_t kMostValues = 7;
  if (last > kMostValues)
    return findMetric("argmax");
  return findMetric("regression");
}
