//===- AutoRepair.cpp - the repairs that an error asks for ----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/ingot/Execute.h"
#include "tools/ingot/calibrate/OutputDifference.h"
#include "tools/ingot/calibrate/Repair.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace ingot;
using namespace ingot::tools;

static bool isEnough(double error) { return error <= Repairer::kMostError; }

/// Measures the error of an artifact as the user's will be. Its runs are much
/// faster than the probe's, with which repairs are compared.
int Repairer::measureInt8(const quantize::Calibration &calibration,
                          llvm::ArrayRef<KnownSample> samples, double &error) {
  if (std::string problem = writeScratch(calibration); !problem.empty())
    return progress.fail(problem);
  ScratchModel model(parser, progress);
  ScratchModel::Options int8 = options.model;
  int8.pipeline.calibration = path();
  int8.pipeline.fitPairs = true;
  if (int code = model.prepare(int8))
    return code;
  OutputsDifference difference;
  std::vector<Array> outputs;
  for (const KnownSample &sample : samples) {
    ingot_error wrong = INGOT_ERROR_INIT;
    if (runToFit(model.handle(), model.runs(), sample.inputs, outputs, wrong) !=
        INGOT_OK)
      return progress.fail(sample.where + ": " + wrong.message);
    difference.add(sample.outputs, outputs, sample.weight);
  }
  error = difference.relative();
  return exitSuccess;
}

int Repairer::runAutomatic(llvm::ArrayRef<KnownSample> samples,
                           uint64_t compared,
                           quantize::Calibration &calibration,
                           std::vector<Trial> &trials, Outcome &outcome) {
  if (std::string problem = scratch.create(); !problem.empty())
    return progress.fail(problem);
  mostBytes = kMostKept;
  State state = {calibration, 0};
  if (int code = measureInt8(calibration, samples, state.error))
    return code;
  outcome = {state.error, state.error, samples.size()};
  // An error that is infinite or NaN says nothing about repairs.
  if (isEnough(state.error) || !std::isfinite(state.error))
    return exitSuccess;
  mostSamples = compared;
  if (int code = measure(calibration, state.error))
    return code;
  outcome = {state.error, state.error, measured};

  auto tryAll = [&](llvm::ArrayRef<RepairKind> kinds, State &state) {
    for (RepairKind kind : kinds)
      if (!isEnough(state.error))
        if (int code = tryOne(kind, state, trials))
          return code;
    return int(exitSuccess);
  };
  if (int code = tryAll({RepairKind::equalize, RepairKind::smooth}, state))
    return code;
  // Rounding changes weights, and biases depend on the weights. So the try with
  // rounded weights starts without a bias repair.
  State rounded = state;
  if (int code = tryAll({RepairKind::bias}, state))
    return code;
  if (!isEnough(state.error)) {
    rounds = true;
    const size_t first = trials.size();
    llvm::SmallVector<RepairKind> kinds = {RepairKind::round};
    if (state.calibration.channels.empty())
      kinds.push_back(RepairKind::smooth);
    kinds.push_back(RepairKind::bias);
    if (int code = tryAll(kinds, rounded))
      return code;
    for (Trial &trial : llvm::drop_begin(trials, first + 1))
      trial.name += " with round";
    if (rounded.error < state.error)
      state = std::move(rounded);
  }
  calibration = std::move(state.calibration);
  outcome.after = state.error;
  return exitSuccess;
}
