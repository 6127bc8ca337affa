//===- ErrorMeter.cpp - the error of a model in int8 ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/repair/ErrorMeter.h"

#include "client/Execute.h"
#include "compiler/study/runs/Stages.h"
#include "compiler/study/runs/WorkTime.h"

#include <algorithm>
#include <cmath>
#include <map>

using namespace ingot;
using namespace ingot::study;

/// The least number of samples to begin with, and the usual one.
static constexpr double kLeastFirst = 8, kUsualFirst = 32;
/// The most seconds of runs, unless the least number of samples takes longer.
static constexpr double kMostSeconds = 3;
/// The largest width of a confidence interval, as a share of the error.
static constexpr double kLargestWidth = 0.5;

/// Returns true if the interval is narrow and lies on one side of the limit.
/// More samples cannot help if the error is not finite.
static bool isCertain(const ErrorEstimate &estimate) {
  if (!std::isfinite(estimate.error))
    return true;
  return (estimate.high <= ErrorMeter::kMostError ||
          estimate.low > ErrorMeter::kMostError) &&
         estimate.high - estimate.low <= kLargestWidth * estimate.error;
}

uint64_t ErrorMeter::numFirst(const Calibrator &calibrator) {
  const double run =
      calibrator.times().inference / double(calibrator.numSamples());
  return uint64_t(std::clamp(kMostSeconds / run, kLeastFirst, kUsualFirst));
}

llvm::Expected<MeasuredError>
ErrorMeter::measure(const ScratchModel::Options &options,
                    const Progress &progress) {
  Stages stages(progress, {1, 1});
  ScratchModel model;
  if (llvm::Error error = model.prepare(options, stages.next()))
    return std::move(error);
  const Progress ofRuns = stages.next();
  const uint64_t largest = std::min(most, calibrator.numSamples());
  std::map<uint64_t, std::vector<OutputError>> known;
  const WorkTime time;
  for (uint64_t count = std::min(numFirst(calibrator), largest);;
       count = std::min(2 * count, largest)) {
    const std::vector<PickedSample> picked = calibrator.survey().pick(count);
    std::vector<PickedSample> missing;
    for (const PickedSample &sample : picked)
      if (!known.count(sample.number))
        missing.push_back(sample);
    size_t taken = 0;
    std::vector<Array> outputs;
    if (llvm::Error error = calibrator.forEachKnown(
            missing, ofRuns, [&](const KnownSample &sample) -> llvm::Error {
              if (llvm::Error error = model.runOnce(sample.inputs, outputs))
                return atSample(sample.where, std::move(error));
              known[missing[taken++].number] =
                  compareOutputs(sample.outputs, outputs);
              return llvm::Error::success();
            }))
      return std::move(error);
    std::vector<SampleErrors> errors;
    for (const PickedSample &sample : picked)
      errors.push_back({sample.weight, known[sample.number]});
    ErrorEstimate estimate = estimateError(errors);
    // The next step takes twice as long.
    if (count < largest && !isCertain(estimate) &&
        2 * time.seconds() < kMostSeconds)
      continue;
    const std::vector<std::string> names = tools::outputNames(model.handle());
    return MeasuredError{names[estimate.output], estimate.error,
                         estimate.low,           estimate.high,
                         known.size(),           std::move(estimate.part),
                         estimate.strictError};
  }
}
