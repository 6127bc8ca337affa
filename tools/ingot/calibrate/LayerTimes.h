//===- LayerTimes.h - how long layers take in each precision ----*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_CALIBRATE_LAYERTIMES_H
#define INGOT_TOOLS_INGOT_CALIBRATE_LAYERTIMES_H

#include "tools/ingot/bench/Bench.h"
#include "tools/ingot/calibrate/ScratchModel.h"

namespace ingot::tools {

/// An artifact and its times on this machine.
struct TimedModel {
  explicit TimedModel(const ScratchModel &model) : model(model) {}

  const ScratchModel &model;
  /// Median of whole runs, and of each layer: the least of all rounds.
  double latencyMs = 0;
  std::vector<LayerResult> layers;

  /// Of the layers that compute one of the nodes; none, if no layer does.
  std::optional<double> timeOf(const std::vector<std::string> &nodes) const;
};

/// What ran.
struct TimedMachine {
  std::string cpu, target;
  unsigned threads = 0;
};

/// Measures models in turns. `sample` has the sizes of inputs whose sizes are
/// not fixed. Returns what went wrong, or "".
std::string measureInTurns(std::vector<TimedModel *> models,
                           const std::vector<Array> &sample, unsigned threads,
                           const Progress &progress, TimedMachine &machine);

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_CALIBRATE_LAYERTIMES_H
