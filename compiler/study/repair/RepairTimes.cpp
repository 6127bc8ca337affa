//===- RepairTimes.cpp - how long repairs take ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The whole of a calibration takes at most three times as long as a plain
// inference of its samples, and 20 seconds more.
//
//===----------------------------------------------------------------------===//
#include "compiler/study/repair/RepairTimes.h"

#include <algorithm>

using namespace ingot;
using namespace ingot::study;

/// The seconds for a model whose runs take no time, without the start of the
/// program.
static constexpr double kMostSeconds = 19;
/// The most time of a calibration, in inferences of its samples.
static constexpr double kMostInferences = 3;
/// The least time of a plain run, as a share of the time of a run that shows
/// its tensors.
static constexpr double kPlainRun = 0.85;
/// The seconds in which a repair may learn, the least samples that it needs,
/// and the most.
static constexpr double kLearningSeconds = 2;
static constexpr double kLeastLearnt = 16, kMostLearnt = 128;
/// The time of a run that rounds values, as a multiple of one that does not.
static constexpr double kRoundingRun = 1.5;
/// The runs that find the number of layers to keep: each of kUsualSamples has a
/// reference, and tests at least one number. Without time for them, all layers
/// are kept that may be kept.
static constexpr double kRunsForNumber = 2 * kUsualSamples;

double RepairTimes::all() const {
  const double inference = kPlainRun * watched.inference;
  return std::max(kMostSeconds - watched.compiling, 0.0) +
         std::max(kMostInferences * inference - watched.runs, 0.0);
}

uint64_t RepairTimes::numLearnt() const {
  return uint64_t(std::clamp(kLearningSeconds / perSample(watched.runs),
                             kLeastLearnt, kMostLearnt));
}

double RepairTimes::of(RepairKind kind) const {
  const double learnt = double(std::min(numLearnt(), numSamples)),
               watching = watched.compiling + learnt * perSample(watched.runs),
               rounded = kRoundingRun * perSample(watched.inference);
  switch (kind) {
  case RepairKind::equalize:
    return watching + measurement;
  case RepairKind::smooth:
    return 2 * watching + measurement;
  case RepairKind::round:
  case RepairKind::bias:
    return watched.compiling + learnt * rounded + measurement;
  case RepairKind::keep:
    return watched.compiling + double(numTensors) * rounded + measurement;
  }
  return 0;
}

double RepairTimes::left(double passed, bool needsRanges) const {
  const double ranges = watched.compiling + watched.runs;
  return all() - passed - measurement - (needsRanges ? ranges : 0);
}

bool RepairTimes::fits(RepairKind kind, double left) const {
  const double reserved = kind == RepairKind::keep ? 0 : of(RepairKind::keep);
  return of(kind) + reserved <= left;
}

unsigned RepairTimes::numForLayers(double seconds, double run) const {
  const double runs = seconds / run, layers = double(numTensors),
               least = runs >= layers ? 1 : 0;
  return unsigned(std::clamp((runs - kRunsForNumber) / layers, least,
                             double(kUsualSamples)));
}
