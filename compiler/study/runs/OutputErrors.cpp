//===- OutputErrors.cpp - the largest error of an output ------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/runs/OutputErrors.h"

#include "client/Values.h"

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
static constexpr OutputError kInfinite = {
    1, std::numeric_limits<double>::infinity()};

static OutputError compareOutput(const Array &wanted, const Array &got) {
  const std::vector<double> a = tools::toDoubles(wanted),
                            b = tools::toDoubles(got);
  OutputError result;
  if (a.size() != b.size())
    return kInfinite;
  const bool countsWrong = areLabels(wanted);
  for (size_t i = 0; i < a.size(); ++i) {
    if (countsWrong) {
      result.wanted += 1;
      result.error += a[i] != b[i];
      continue;
    }
    result.wanted += a[i] * a[i];
    result.error += (b[i] - a[i]) * (b[i] - a[i]);
  }
  return result;
}

std::vector<OutputError>
ingot::study::compareOutputs(llvm::ArrayRef<Array> wanted,
                             llvm::ArrayRef<Array> got) {
  std::vector<OutputError> errors;
  for (size_t i = 0; i < wanted.size(); ++i)
    errors.push_back(i < got.size() ? compareOutput(wanted[i], got[i])
                                    : kInfinite);
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

/// Returns half the width of the confidence interval of `ratio`, the sum of the
/// errors divided by the sum of the wanted values.
static double findMargin(llvm::ArrayRef<SampleErrors> samples, size_t output,
                         double ratio, double wanted) {
  double count = 0, mean = 0;
  auto residual = [&](const SampleErrors &sample) {
    const OutputError &one = sample.outputs[output];
    return one.error - ratio * one.wanted;
  };
  for (const SampleErrors &sample : samples)
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
  for (const SampleErrors &sample : samples)
    if (sample.weight > 1)
      variance += sample.weight * (sample.weight - 1) *
                  (residual(sample) - mean) * (residual(sample) - mean);
  variance *= count / (count - 1);
  return studentQuantile(count - 1) * std::sqrt(variance) / wanted;
}

static ErrorEstimate estimateOutput(llvm::ArrayRef<SampleErrors> samples,
                                    size_t output) {
  double wanted = 0, error = 0;
  for (const SampleErrors &sample : samples) {
    wanted += sample.weight * sample.outputs[output].wanted;
    error += sample.weight * sample.outputs[output].error;
  }
  if (error == 0)
    return {output, 0, 0, 0};
  const double ratio = error / wanted;
  ErrorEstimate result = {output, std::sqrt(ratio), std::sqrt(ratio),
                          std::sqrt(ratio)};
  if (!std::isfinite(ratio))
    return result;
  const double margin = findMargin(samples, output, ratio, wanted);
  result.low = std::sqrt(std::max(ratio - margin, 0.0));
  result.high = std::sqrt(ratio + margin);
  return result;
}

ErrorEstimate
ingot::study::estimateError(llvm::ArrayRef<SampleErrors> samples) {
  ErrorEstimate worst;
  for (size_t i = 0; !samples.empty() && i < samples.front().outputs.size();
       ++i) {
    const ErrorEstimate estimate = estimateOutput(samples, i);
    // NaN is worse than any number.
    if (!(estimate.error <= worst.error))
      worst = estimate;
    if (std::isnan(worst.error))
      break;
  }
  return worst;
}
