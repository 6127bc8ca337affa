//===- OutputErrors.cpp - the largest error of an output ------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/runs/OutputErrors.h"

#include "client/Values.h"
#include "client/inputs/SampleSurvey.h"
#include "compiler/study/runs/Difference.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace ingot;
using namespace ingot::study;

static bool areLabels(const Array &array) {
  switch (array.dtype) {
  case INGOT_INT32:
  case INGOT_INT64:
  case INGOT_UINT32:
  case INGOT_UINT64:
  case INGOT_BOOL:
  case INGOT_STRING:
    return true;
  default:
    return false;
  }
}

/// The error of an output that is missing or has another size.
static OutputError infiniteError() {
  return {1, std::numeric_limits<double>::infinity()};
}

/// The most numbers of a row that are measured values, each with its own unit.
static constexpr size_t kMostValues = 7;
/// The most columns of rows of boxes and scores.
static constexpr size_t kMostColumns = 128;
/// The least rows of a sample that has boxes.
static constexpr size_t kLeastBoxes = 32;

namespace {

/// The place of columns in an output: element i is in column
/// i / step % count.
struct ColumnLayout {
  size_t count = 0, step = 1;
};

} // namespace

/// Returns the columns of an output. Columns are the last dimension, or the
/// middle one of three where the last has more numbers.
static ColumnLayout findColumns(const Array &output) {
  llvm::ArrayRef<int64_t> dims = output.dims;
  // Pooled images have channels and two dimensions of 1.
  if (dims.size() > 3)
    while (dims.size() > 2 && dims.back() == 1)
      dims = dims.drop_back();
  // Columns of images are positions.
  if (dims.size() > 3)
    return {};
  const auto last =
      dims.size() < 2 ? size_t(1) : size_t(std::max<int64_t>(dims.back(), 1));
  if (last <= kMostValues)
    return {last, 1};
  if (dims.size() != 3)
    return {};
  if (last <= kMostColumns)
    return {last, 1};
  const auto middle = size_t(dims[1]);
  return middle <= kMostColumns ? ColumnLayout{middle, last} : ColumnLayout{};
}

static OutputError compareOutput(const Array &wanted, const Array &got) {
  const std::vector<double> a = tools::toDoubles(wanted),
                            b = tools::toDoubles(got);
  OutputError result;
  if (a.size() != b.size())
    return infiniteError();
  const bool countsWrong = areLabels(wanted);
  const ColumnLayout layout =
      countsWrong ? ColumnLayout{} : findColumns(wanted);
  result.columns.resize(layout.count);
  for (size_t i = 0; i < a.size(); ++i) {
    if (countsWrong) {
      result.wanted += 1;
      result.error += a[i] != b[i];
      continue;
    }
    if (isSameNotFinite(a[i], b[i]))
      continue;
    const double square = a[i] * a[i], error = (b[i] - a[i]) * (b[i] - a[i]);
    result.wanted += square;
    result.error += error;
    if (!layout.count)
      continue;
    ColumnError &column = result.columns[i / layout.step % layout.count];
    column.wanted += square;
    column.error += error;
    column.sum += a[i];
    column.count += 1;
    column.largest = std::max(column.largest, std::abs(a[i]));
    column.isUnit &= a[i] >= 0 && a[i] <= 1;
  }
  return result;
}

std::vector<OutputError>
ingot::study::compareOutputs(llvm::ArrayRef<Array> wanted,
                             llvm::ArrayRef<Array> got) {
  std::vector<OutputError> errors;
  for (size_t i = 0; i < wanted.size(); ++i)
    errors.push_back(i < got.size() ? compareOutput(wanted[i], got[i])
                                    : infiniteError());
  return errors;
}

/// Returns the number of standard deviations that Student's distribution has on
/// each side of its middle 95 %. Uses two terms of its expansion in the inverse
/// degrees of freedom (Abramowitz and Stegun, 26.7.5).
static double studentQuantile(double degrees) {
  constexpr double kNormal = 1.959964;
  const double cube = kNormal * kNormal * kNormal,
               fifth = cube * kNormal * kNormal;
  return kNormal + (cube + kNormal) / (4 * degrees) +
         (5 * fifth + 16 * cube + 3 * kNormal) / (96 * degrees * degrees);
}

namespace {

/// The sums of one sample over a part of an output. See OutputError.
struct PartError {
  double weight = 1, wanted = 0, error = 0;
};
using PartErrors = std::vector<PartError>;

} // namespace

/// Returns half the width of the confidence interval of `ratio`, the sum of the
/// errors divided by the sum of the wanted values.
static double findMargin(const PartErrors &samples, double ratio,
                         double wanted) {
  double count = 0, mean = 0;
  auto residual = [&](const PartError &sample) {
    return sample.error - ratio * sample.wanted;
  };
  for (const PartError &sample : samples)
    if (sample.weight > 1) {
      ++count;
      mean += residual(sample);
    }
  if (count == 0)
    return 0;
  if (count == 1)
    return std::numeric_limits<double>::infinity();
  mean /= count;
  double variance = 0;
  for (const PartError &sample : samples)
    if (sample.weight > 1)
      variance += sample.weight * (sample.weight - 1) *
                  (residual(sample) - mean) * (residual(sample) - mean);
  variance *= count / (count - 1);
  return studentQuantile(count - 1) * std::sqrt(variance) / wanted;
}

static ErrorEstimate estimatePart(const PartErrors &samples, std::string part) {
  double wanted = 0, error = 0;
  for (const PartError &sample : samples) {
    wanted += sample.weight * sample.wanted;
    error += sample.weight * sample.error;
  }
  if (error == 0)
    return {};
  const double ratio = error / wanted;
  ErrorEstimate result = {0,
                          std::sqrt(ratio),
                          std::sqrt(ratio),
                          std::sqrt(ratio),
                          std::move(part),
                          std::sqrt(ratio)};
  if (!std::isfinite(ratio))
    return result;
  const double margin = findMargin(samples, ratio, wanted);
  result.low = std::sqrt(std::max(ratio - margin, 0.0));
  result.high = std::sqrt(ratio + margin);
  return result;
}

/// Keeps the larger error. NaN is larger than any number.
static void keepWorse(ErrorEstimate &worst, ErrorEstimate one) {
  const double strictError = std::max(worst.strictError, one.strictError);
  if (!std::isnan(worst.error) && !(one.error <= worst.error))
    worst = std::move(one);
  worst.strictError = strictError;
}

/// Returns the sums over the samples of one column.
static ColumnError sumColumn(llvm::ArrayRef<SampleErrors> samples,
                             size_t output, size_t column) {
  ColumnError all;
  for (const SampleErrors &sample : samples) {
    const ColumnError &one = sample.outputs[output].columns[column];
    all.wanted += sample.weight * one.wanted;
    all.sum += sample.weight * one.sum;
    all.count += sample.weight * one.count;
    all.largest = std::max(all.largest, one.largest);
    all.isUnit &= one.isUnit;
  }
  return all;
}

/// Judges a column of measured values by its deviations from the mean. A value
/// such as an air pressure is far from 0 and varies little.
static ErrorEstimate estimateValues(llvm::ArrayRef<SampleErrors> samples,
                                    size_t output, size_t column,
                                    const ColumnError &all) {
  /// The least numbers whose spread says something.
  constexpr double kLeastCount = 8;
  const double mean = all.sum / all.count;
  const double spread = all.wanted - all.sum * mean;
  // Values that do not vary are judged by their size.
  if (all.count < kLeastCount || !areVaried(spread, all.wanted))
    return {};
  PartErrors part;
  bool haveRows = false;
  for (const SampleErrors &sample : samples) {
    const ColumnError &one = sample.outputs[output].columns[column];
    haveRows |= one.count > 1;
    const double around =
        one.wanted - 2 * mean * one.sum + one.count * mean * mean;
    part.push_back({sample.weight, std::max(around, 0.0), one.error});
  }
  ErrorEstimate result =
      estimatePart(part, "column " + std::to_string(column) +
                             ", relative to the spread of its values");
  if (haveRows)
    result.strictError = 0;
  return result;
}

/// Judges the columns of numbers from 0 to 1, such as scores, apart from the
/// others, such as corners of boxes.
static ErrorEstimate estimateScores(llvm::ArrayRef<SampleErrors> samples,
                                    size_t output,
                                    llvm::ArrayRef<ColumnError> columns) {
  /// The least number that a score reaches.
  constexpr double kLeastScore = 1.0 / 16;
  double largest = 0;
  for (const ColumnError &column : columns)
    if (column.isUnit)
      largest = std::max(largest, column.largest);
  if (largest < kLeastScore)
    return {};
  PartErrors part;
  for (const SampleErrors &sample : samples) {
    PartError one = {sample.weight};
    for (auto [column, all] :
         llvm::zip_equal(sample.outputs[output].columns, columns))
      if (all.isUnit) {
        one.wanted += column.wanted;
        one.error += column.error;
      }
    part.push_back(one);
  }
  return estimatePart(part, "the columns of numbers from 0 to 1");
}

/// Estimates the output and its parts.
static ErrorEstimate estimateParts(llvm::ArrayRef<SampleErrors> samples,
                                   size_t output) {
  PartErrors whole;
  const size_t count = samples.front().outputs[output].columns.size();
  bool haveColumns = count > 0;
  for (const SampleErrors &sample : samples) {
    const OutputError &one = sample.outputs[output];
    whole.push_back({sample.weight, one.wanted, one.error});
    haveColumns &= one.columns.size() == count;
  }
  ErrorEstimate worst = estimatePart(whole, "");
  if (!haveColumns)
    return worst;
  std::vector<ColumnError> columns;
  for (size_t i = 0; i < count; ++i)
    columns.push_back(sumColumn(samples, output, i));
  // Numbers from 0 to 1 only are probabilities.
  if (llvm::all_of(columns, [](const ColumnError &one) { return one.isUnit; }))
    return worst;
  if (count > kMostValues && columns.front().count >= kLeastBoxes)
    keepWorse(worst, estimateScores(samples, output, columns));
  for (size_t i = 0; count <= kMostValues && i < count; ++i) {
    ErrorEstimate values = estimateValues(samples, output, i, columns[i]);
    // Boxes far from all objects make the whole output wrong, but nobody reads
    // them.
    if (values.error > 0 && values.strictError == 0)
      worst.strictError = 0;
    keepWorse(worst, std::move(values));
  }
  return worst;
}

/// Returns the samples that have nearly all of the output's norm, so that they
/// hide the errors of all others. Probabilities have no such samples: where
/// they are 0, their errors say little.
static std::vector<size_t> findDominating(llvm::ArrayRef<SampleErrors> samples,
                                          size_t output) {
  constexpr double kNearlyAll = 0.99;
  // Sums of squares grow with the square of the values.
  constexpr double kLeastRatio = tools::kFarFactor * tools::kFarFactor;
  double left = 0, number = 0;
  bool isUnit = true;
  std::vector<size_t> order;
  for (const SampleErrors &sample : samples) {
    const OutputError &one = sample.outputs[output];
    order.push_back(order.size());
    left += sample.weight * one.wanted;
    number += sample.weight;
    for (const ColumnError &column : one.columns)
      isUnit &= column.isUnit;
    isUnit &= !one.columns.empty();
  }
  if (isUnit)
    return {};
  auto normOf = [&](size_t i) { return samples[i].outputs[output].wanted; };
  llvm::stable_sort(order,
                    [&](size_t a, size_t b) { return normOf(a) > normOf(b); });
  const double most = (1 - kNearlyAll) * left;
  double taken = 0;
  size_t count = 0;
  for (size_t i = 0; i + 1 < order.size(); ++i) {
    const SampleErrors &sample = samples[order[i]];
    const double next = normOf(order[i + 1]);
    taken += sample.weight;
    // Errors relative to nothing say nothing.
    if (taken > std::max(tools::kMostFar * number, 1.0) || next == 0)
      break;
    left -= sample.weight * normOf(order[i]);
    const double ratio = normOf(order[i]) / next;
    if (left < most && (i == 0 || ratio >= kLeastRatio))
      count = i + 1;
  }
  order.resize(count);
  return order;
}

static ErrorEstimate estimateOutput(llvm::ArrayRef<SampleErrors> samples,
                                    size_t output) {
  ErrorEstimate worst = estimateParts(samples, output);
  const std::vector<size_t> dominating = findDominating(samples, output);
  if (!dominating.empty()) {
    std::vector<SampleErrors> others;
    double count = 0;
    for (const auto &[i, sample] : llvm::enumerate(samples))
      if (llvm::is_contained(dominating, i))
        count += sample.weight;
      else
        others.push_back(sample);
    ErrorEstimate rest = estimateParts(others, output);
    rest.part +=
        std::string(rest.part.empty() ? "" : ", in ") + "all samples but " +
        (count <= 1
             ? "one that is far larger"
             : std::to_string(std::lround(count)) + " that are far larger");
    keepWorse(worst, std::move(rest));
  }
  worst.output = output;
  return worst;
}

ErrorEstimate
ingot::study::estimateError(llvm::ArrayRef<SampleErrors> samples) {
  ErrorEstimate worst;
  for (size_t i = 0; !samples.empty() && i < samples.front().outputs.size();
       ++i)
    keepWorse(worst, estimateOutput(samples, i));
  return worst;
}
