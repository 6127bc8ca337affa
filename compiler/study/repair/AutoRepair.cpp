//===- AutoRepair.cpp - the repairs that an error asks for ----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/repair/Repair.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <limits>

using namespace ingot;
using namespace ingot::study;

llvm::Expected<MeasuredError>
Repairer::measureInt8(ErrorMeter &meter,
                      const quantize::Calibration &calibration,
                      const Progress &progress) {
  if (llvm::Error error = writeScratch(calibration))
    return std::move(error);
  ScratchModel::Options int8 = options.model;
  int8.pipeline.calibration = path();
  int8.pipeline.int8Weights = quantize::Int8Weights::fitted;
  const WorkTime taken;
  llvm::Expected<MeasuredError> measured = meter.measure(int8, progress);
  times.measurement = taken.seconds();
  return measured;
}

double Repairer::timeLeft(RepairKind kind, const State &state) const {
  const bool needsRanges = options.data.picked &&
                           (changesRanges(kind) || state.calibration.equalize ||
                            !state.calibration.channels.empty());
  return times.left(time->seconds(), needsRanges);
}

/// Removes the error Cancelled if the caller did not cancel. The work then ran
/// out of time, and `isOutOfTime` is set.
static llvm::Error takeTimeout(llvm::Error error, const Progress &progress,
                               bool &isOutOfTime) {
  return llvm::handleErrors(
      std::move(error),
      [&](std::unique_ptr<Cancelled> cancelled) -> llvm::Error {
        isOutOfTime = !progress.cancelled();
        return isOutOfTime ? llvm::Error::success()
                           : llvm::Error(std::move(cancelled));
      });
}

llvm::Error Repairer::tryNeeded(llvm::ArrayRef<RepairKind> kinds, State &state,
                                std::vector<RepairTrial> &trials,
                                Stages &stages) {
  for (RepairKind kind : kinds) {
    const Progress progress = stages.next();
    if (state.error <= mostError)
      continue;
    const double left = timeLeft(kind, state);
    bool isOutOfTime = !times.fits(kind, left);
    end = time->seconds() + left;
    if (!isOutOfTime)
      if (llvm::Error error = takeTimeout(
              tryOne(kind, state, trials, time->limit(progress, end)), progress,
              isOutOfTime))
        return error;
    if (!isOutOfTime)
      continue;
    RepairTrial trial = {nameOf(kind), state.error,
                         std::numeric_limits<double>::quiet_NaN()};
    trial.isOutOfTime = true;
    trials.push_back(std::move(trial));
  }
  return llvm::Error::success();
}

llvm::Error Repairer::tryAll(State &state, std::vector<RepairTrial> &trials,
                             Stages &stages) {
  if (llvm::Error error = tryNeeded({RepairKind::equalize, RepairKind::smooth},
                                    state, trials, stages))
    return error;
  // Rounding changes weights, and bias repairs depend on the weights. So start
  // from a state without a bias repair.
  State rounded = state;
  const size_t common = trials.size();
  if (llvm::Error error = tryNeeded({RepairKind::bias, RepairKind::keep}, state,
                                    trials, stages))
    return error;
  if (state.error <= mostError)
    return llvm::Error::success();
  if (!times.fits(RepairKind::round, timeLeft(RepairKind::round, rounded)))
    return tryNeeded({RepairKind::round}, state, trials, stages);
  rounds = true;
  const size_t start = trials.size();
  llvm::SmallVector<RepairKind> kinds = {RepairKind::round};
  if (state.calibration.channels.empty())
    kinds.push_back(RepairKind::smooth);
  kinds.append({RepairKind::bias, RepairKind::keep});
  if (llvm::Error error = tryNeeded(kinds, rounded, trials, stages))
    return error;
  for (RepairTrial &trial : llvm::drop_begin(trials, start + 1))
    trial.name += " with round";
  // Only one of the two sequences is kept.
  const bool isBetter = rounded.error < state.error;
  for (size_t i = common; i < trials.size(); ++i)
    trials[i].isKept &= (i >= start) == isBetter;
  if (isBetter)
    state = std::move(rounded);
  return llvm::Error::success();
}

llvm::Expected<std::vector<RepairTrial>>
Repairer::runAutomatic(ErrorMeter &meter, ErrorMeter &ofRepairs,
                       quantize::Calibration &calibration,
                       RepairOutcome &outcome, const Progress &progress) {
  std::vector<RepairTrial> trials;
  if (llvm::Error error = errorIf(scratch.create()))
    return std::move(error);
  time.emplace();
  mostBytes = mostGrams = kMostKept;
  mostLeft = kMostLeft;
  // The stages are two measurements, at most eight repairs, the final ranges,
  // and a measurement.
  Stages stages(progress, {2, 1, 2, 2, 1, 2, 2, 2, 1, 2, 1, 1});
  llvm::Expected<MeasuredError> first =
      measureInt8(meter, calibration, stages.next());
  if (!first)
    return first.takeError();
  outcome = {*first, *first};
  // An infinite or NaN error says nothing about repairs.
  if (first->error <= ErrorMeter::kMostError || !std::isfinite(first->error))
    return trials;
  comparator = &ofRepairs;
  if (survey.count() > times.numLearnt())
    options.data.picked = survey.pick(times.numLearnt());
  State state = {calibration, first->error};
  const Progress ofComparison = stages.next();
  if (first->samples > ofRepairs.mostSamples()) {
    llvm::Expected<double> before = measure(calibration, ofComparison);
    if (!before)
      return before.takeError();
    state.error = *before;
    // The few samples may have a smaller error than all, so it must fall in
    // proportion.
    mostError *= std::min(*before / first->error, 1.0);
  }
  if (llvm::Error error = tryAll(state, trials, stages))
    return std::move(error);
  // Repairs that change tensors have found ranges on some samples only.
  if (options.data.picked &&
      (state.calibration.equalize || !state.calibration.channels.empty())) {
    options.data.picked.reset();
    if (llvm::Error error = recalibrate(state.calibration, stages.next()))
      return std::move(error);
  }
  if (!state.calibration.isRepaired())
    return trials;
  llvm::Expected<MeasuredError> after =
      measureInt8(meter, state.calibration, stages.next());
  if (!after)
    return after.takeError();
  // A few samples compare repairs, but the error of all of them counts.
  if (after->error > kMostLeft * first->error) {
    for (RepairTrial &trial : trials)
      trial.isKept = false;
    return trials;
  }
  calibration = std::move(state.calibration);
  outcome.after = std::move(*after);
  return trials;
}
