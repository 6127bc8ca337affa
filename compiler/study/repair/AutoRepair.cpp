//===- AutoRepair.cpp - the repairs that an error asks for ----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "client/Execute.h"
#include "compiler/study/repair/Repair.h"
#include "compiler/study/runs/OutputDifference.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace ingot;
using namespace ingot::study;

static bool isEnough(double error) { return error <= Repairer::kMostError; }

/// Measures the error of an artifact compiled with the user's options. Runs of
/// such an artifact are much faster than runs of the probe, which compares
/// repairs.
llvm::Expected<double>
Repairer::measureInt8(const quantize::Calibration &calibration,
                      llvm::ArrayRef<KnownSample> samples,
                      const Progress &progress) {
  if (llvm::Error error = writeScratch(calibration))
    return std::move(error);
  ScratchModel model;
  ScratchModel::Options int8 = options.model;
  int8.pipeline.calibration = path();
  int8.pipeline.int8Weights = quantize::Int8Weights::fitted;
  if (llvm::Error error = model.prepare(int8, progress))
    return std::move(error);
  OutputsDifference difference;
  std::vector<Array> outputs;
  for (const KnownSample &sample : samples) {
    if (llvm::Error error = checkCancelled(progress))
      return std::move(error);
    if (llvm::Error error = model.runOnce(sample.inputs, outputs))
      return atSample(sample.where, std::move(error));
    difference.add(sample.outputs, outputs, sample.weight);
  }
  return difference.relative();
}

llvm::Error Repairer::tryNeeded(llvm::ArrayRef<RepairKind> kinds, State &state,
                                std::vector<RepairTrial> &trials,
                                Stages &stages) {
  for (RepairKind kind : kinds) {
    const Progress progress = stages.next();
    if (isEnough(state.error))
      continue;
    if (llvm::Error error = tryOne(kind, state, trials, progress))
      return error;
  }
  return llvm::Error::success();
}

llvm::Expected<std::vector<RepairTrial>>
Repairer::runAutomatic(llvm::ArrayRef<KnownSample> samples, uint64_t compared,
                       quantize::Calibration &calibration,
                       RepairOutcome &outcome, const Progress &progress) {
  std::vector<RepairTrial> trials;
  if (llvm::Error error = errorIf(scratch.create()))
    return std::move(error);
  mostBytes = kMostKept;
  // The stages are two measurements and at most six repairs.
  Stages stages(progress, {1, 1, 2, 2, 1, 2, 2, 1});
  llvm::Expected<double> first =
      measureInt8(calibration, samples, stages.next());
  if (!first)
    return first.takeError();
  outcome = {*first, *first, samples.size()};
  // An infinite or NaN error says nothing about repairs.
  if (isEnough(*first) || !std::isfinite(*first))
    return trials;
  mostSamples = compared;
  llvm::Expected<double> before = measure(calibration, stages.next());
  if (!before)
    return before.takeError();
  State state = {calibration, *before};
  outcome = {state.error, state.error, measured};

  if (llvm::Error error = tryNeeded({RepairKind::equalize, RepairKind::smooth},
                                    state, trials, stages))
    return std::move(error);
  // Rounding changes weights, and bias repairs depend on the weights. So start
  // from a state without a bias repair.
  State rounded = state;
  if (llvm::Error error = tryNeeded({RepairKind::bias}, state, trials, stages))
    return std::move(error);
  if (!isEnough(state.error)) {
    rounds = true;
    const size_t start = trials.size();
    llvm::SmallVector<RepairKind> kinds = {RepairKind::round};
    if (state.calibration.channels.empty())
      kinds.push_back(RepairKind::smooth);
    kinds.push_back(RepairKind::bias);
    if (llvm::Error error = tryNeeded(kinds, rounded, trials, stages))
      return std::move(error);
    for (RepairTrial &trial : llvm::drop_begin(trials, start + 1))
      trial.name += " with round";
    if (rounded.error < state.error)
      state = std::move(rounded);
  }
  calibration = std::move(state.calibration);
  outcome.after = state.error;
  return trials;
}
