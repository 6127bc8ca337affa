//===- LayerTimes.cpp - how long layers take in each precision ------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/precision/LayerTimes.h"

#include "client/measure/Distribution.h"

#include <algorithm>

using namespace ingot;
using namespace ingot::study;

/// How often each artifact is measured.
static constexpr int kRounds = 3;
/// Milliseconds of a round before it is measured, and while it is. The best of
/// short rounds in turns is as exact as that of long ones.
static constexpr unsigned kWarmUpMs = 10, kMeasuredMs = 60;
/// The minimum number of runs in a round, even if one run takes long.
static constexpr uint64_t kLeastRuns = 5;

std::optional<double>
TimedModel::timeOf(const std::vector<std::string> &nodes) const {
  std::optional<double> sum;
  for (const tools::LayerResult &layer : layers)
    if (std::any_of(layer.nodes.begin(), layer.nodes.end(),
                    [&](const std::string &node) {
                      return std::find(nodes.begin(), nodes.end(), node) !=
                             nodes.end();
                    }))
      sum = sum.value_or(0) + layer.medianMs;
  return sum;
}

static std::string measureOnce(TimedModel &model,
                               const std::vector<Array> &sample,
                               TimedMachine &machine) {
  tools::MeasureOptions options;
  options.model = model.model.library();
  options.inputs = sample;
  options.warmUpMs = kWarmUpMs;
  options.durationMs = kMeasuredMs;
  options.iterations = kLeastRuns;
  options.profiles = true;
  options.measuresPeaks = false;
  tools::BenchResult result;
  if (std::string problem = tools::measureModel(options, result);
      !problem.empty())
    return problem;
  const double latency = tools::Distribution(result.latencies()).median();
  model.latencyMs =
      model.latencyMs == 0 ? latency : std::min(model.latencyMs, latency);
  if (model.layers.empty()) {
    model.layers = std::move(result.layers);
  } else {
    for (size_t i = 0; i < model.layers.size(); ++i)
      model.layers[i].medianMs =
          std::min(model.layers[i].medianMs, result.layers[i].medianMs);
  }
  machine = {result.cpu, result.target, result.threads};
  return "";
}

llvm::Expected<TimedMachine>
ingot::study::measureLayers(std::vector<TimedModel *> models,
                            const std::vector<Array> &sample,
                            const Progress &progress) {
  TimedMachine machine;
  const double turns = kRounds * double(models.size());
  double done = 0;
  for (int round = 0; round < kRounds; ++round)
    for (TimedModel *model : models) {
      if (llvm::Error error = checkCancelled(progress))
        return std::move(error);
      progress.step("measuring, round " + std::to_string(round + 1) + " of " +
                        std::to_string(kRounds),
                    done++ / turns);
      std::string problem = measureOnce(*model, sample, machine);
      if (!problem.empty())
        return makeError("times of layers: " + problem);
    }
  return machine;
}
