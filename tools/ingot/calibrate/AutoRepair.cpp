//===- AutoRepair.cpp - the repairs that an error asks for ----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/ingot/calibrate/Repair.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace ingot;
using namespace ingot::tools;

/// Of samples and outputs that are kept to measure errors.
static constexpr uint64_t kMostKept = uint64_t(256) << 20;

static bool isEnough(double error) { return error <= Repairer::kMostError; }

int Repairer::runAutomatic(uint64_t compared,
                           quantize::Calibration &calibration,
                           std::vector<Trial> &trials, Outcome &outcome) {
  if (std::string problem = scratch.create(); !problem.empty())
    return progress.fail(problem);
  mostBytes = kMostKept;
  State state = {calibration, 0};
  if (int code = measure(calibration, state.error))
    return code;
  outcome = {state.error, state.error, measured};
  // What is infinite or not a number tells nothing of repairs.
  if (isEnough(state.error) || !std::isfinite(state.error))
    return exitSuccess;
  if (compared != mostSamples) {
    mostSamples = compared;
    if (int code = measure(calibration, state.error))
      return code;
    outcome = {state.error, state.error, measured};
  }

  auto tryAll = [&](llvm::ArrayRef<RepairKind> kinds, State &state) {
    for (RepairKind kind : kinds)
      if (!isEnough(state.error))
        if (int code = tryOne(kind, state, trials))
          return code;
    return int(exitSuccess);
  };
  if (int code = tryAll({RepairKind::equalize, RepairKind::smooth}, state))
    return code;
  // Biases are those of weights that are rounded otherwise then.
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
