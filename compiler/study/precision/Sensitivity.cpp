//===- Sensitivity.cpp - which layers int8 hurts --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/precision/Sensitivity.h"

#include "compiler/study/runs/Stages.h"
#include "passes/support/Rules.h"

#include <algorithm>

using namespace ingot;
using namespace ingot::study;

llvm::Expected<double> ingot::study::measureAlone(Probe &probe, size_t unit,
                                                  const Progress &progress) {
  std::vector<bool> isOn(probe.units().size());
  isOn[unit] = true;
  return probe.measure(isOn, progress);
}

/// Measures the remaining error if the worst layers stay in fp32.
static llvm::Error measureKept(Probe &probe, const Progress &progress,
                               Sensitivity &result) {
  std::vector<bool> isOn(probe.units().size(), true);
  for (size_t kept = 1, next = 1; kept < result.layers.size(); ++kept) {
    isOn[result.layers[kept - 1].unit] = false;
    // Try only 1, 2, 4, 8 and so on layers, because each try runs all samples.
    if (kept != next)
      continue;
    next *= 2;
    progress.step("without the worst " + std::to_string(kept),
                  double(kept) / double(result.layers.size()));
    llvm::Expected<double> error = probe.measure(isOn, progress);
    if (!error)
      return error.takeError();
    result.kept.push_back({kept, *error});
  }
  return llvm::Error::success();
}

llvm::Expected<Sensitivity>
ingot::study::measureSensitivity(Probe &probe, const Progress &progress) {
  const size_t count = probe.units().size();
  Sensitivity result;
  result.samples = probe.numSamples();
  progress.step("all layers in int8", 0);
  llvm::Expected<double> all =
      probe.measure(std::vector<bool>(count, true), progress);
  if (!all)
    return all.takeError();
  result.all = *all;
  const Progress alone = partOf(progress, 0, 0.9);
  for (size_t i = 0; i < count; ++i) {
    if (!probe.canBeOn(i))
      continue;
    alone.step("layer " + std::to_string(i + 1) + " of " +
                   std::to_string(count),
               double(i) / double(count));
    llvm::Expected<double> error = measureAlone(probe, i, progress);
    if (!error)
      return error.takeError();
    result.layers.push_back(
        {i, probe.units()[i].nodes, probe.tensorOf(i), *error});
  }
  std::stable_sort(result.layers.begin(), result.layers.end(),
                   [](const LayerError &a, const LayerError &b) {
                     return a.alone > b.alone;
                   });
  if (llvm::Error error = measureKept(probe, partOf(progress, 0.9, 1), result))
    return std::move(error);
  return result;
}

std::string ingot::study::keepArguments(const Sensitivity &sensitivity,
                                        size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    text += std::string(text.empty() ? "" : " ") + "--keep '";
    // A rule for one of the unit's nodes is enough.
    for (char c : keepRule(sensitivity.layers[i].nodes.front()))
      text += c == '\'' ? "'\\''" : std::string(1, c);
    text += '\'';
  }
  return text;
}
