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
  /// The median time of runs, and that of each layer: the least of all rounds.
  double latencyMs = 0;
  std::vector<tools::LayerResult> layers;

  /// Returns the time of the layers that compute any of the nodes. Returns
  /// nothing if no layer does.
  std::optional<double> timeOf(const std::vector<std::string> &nodes) const;
};

/// The machine that was measured.
struct TimedMachine {
  std::string cpu, target;
  unsigned threads = 0;
};

/// Measures models in turns. `sample` gives the sizes of inputs with dynamic
/// sizes. Returns the machine.
llvm::Expected<TimedMachine> measureInTurns(std::vector<TimedModel *> models,
                                            const std::vector<Array> &sample,
                                            unsigned threads,
                                            const Progress &progress);

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_PRECISION_LAYERTIMES_H
