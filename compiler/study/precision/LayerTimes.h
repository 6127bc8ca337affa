//===- LayerTimes.h - how long layers take in each precision ----*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_PRECISION_LAYERTIMES_H
#define INGOT_COMPILER_STUDY_PRECISION_LAYERTIMES_H

#include "client/measure/Measure.h"
#include "compiler/study/runs/ScratchModel.h"

namespace ingot::study {

/// An artifact and its times on this machine.
struct TimedModel {
  explicit TimedModel(const ScratchModel &model) : model(model) {}

  const ScratchModel &model;
  /// Median times of runs and of each layer, each the least of all rounds.
  double latencyMs = 0;
  std::vector<tools::LayerResult> layers;

  /// Returns the time of all layers that compute one of the nodes. Returns
  /// nothing if there is no such layer.
  std::optional<double> timeOf(const std::vector<std::string> &nodes) const;
};

/// The machine that was measured.
struct TimedMachine {
  std::string cpu, target;
  unsigned threads = 0;
};

/// Measures the models and their layers in turns, on `sample`. If it is empty,
/// inputs are random. Returns the machine.
llvm::Expected<TimedMachine> measureLayers(std::vector<TimedModel *> models,
                                           const std::vector<Array> &sample,
                                           const Progress &progress);

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_PRECISION_LAYERTIMES_H
