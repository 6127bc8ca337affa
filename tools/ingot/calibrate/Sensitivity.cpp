//===- Sensitivity.cpp - which layers int8 hurts --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/ingot/calibrate/Sensitivity.h"

#include <algorithm>

using namespace ingot;
using namespace ingot::tools;

std::string ingot::tools::measureAlone(Probe &probe, size_t unit,
                                       double &error) {
  std::vector<bool> isOn(probe.units().size());
  isOn[unit] = true;
  return probe.measure(isOn, error);
}

std::string ingot::tools::measureSensitivity(Probe &probe,
                                             const Progress &progress,
                                             Sensitivity &result) {
  const size_t count = probe.units().size();
  std::vector<bool> isOn(count, true);
  result.samples = probe.numSamples();
  progress.show("all layers in int8");
  std::string problem = probe.measure(isOn, result.all);
  for (size_t i = 0; i < count && problem.empty(); ++i) {
    if (!probe.canBeOn(i))
      continue;
    progress.show("layer " + std::to_string(i + 1) + " of " +
                  std::to_string(count));
    LayerError layer;
    layer.unit = i;
    problem = measureAlone(probe, i, layer.alone);
    result.layers.push_back(layer);
  }
  if (!problem.empty())
    return problem;
  std::stable_sort(result.layers.begin(), result.layers.end(),
                   [](const LayerError &a, const LayerError &b) {
                     return a.alone > b.alone;
                   });
  isOn.assign(count, true);
  for (size_t kept = 1, next = 1; kept < result.layers.size(); ++kept) {
    isOn[result.layers[kept - 1].unit] = false;
    // Try only 1, 2, 4, 8 and so on layers, since each try runs all samples.
    if (kept != next)
      continue;
    next *= 2;
    double error = 0;
    progress.show("without the worst " + std::to_string(kept));
    problem = probe.measure(isOn, error);
    if (!problem.empty())
      return problem;
    result.kept.push_back({kept, error});
  }
  progress.clear();
  return "";
}

std::string ingot::tools::keepRule(const std::string &node) {
  std::string rule;
  for (char c : node) {
    if (c == '*' || c == '?' || c == '[' || c == '\\')
      rule += '\\';
    rule += c;
  }
  return rule + "=fp32";
}

std::string ingot::tools::keepArguments(const Probe &probe,
                                        const Sensitivity &sensitivity,
                                        size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    const Switch &unit = probe.units()[sensitivity.layers[i].unit];
    text += std::string(text.empty() ? "" : " ") + "--keep '";
    // A rule for one of the unit's nodes is enough.
    for (char c : keepRule(unit.nodes.front()))
      text += c == '\'' ? "'\\''" : std::string(1, c);
    text += '\'';
  }
  return text;
}

static std::string nameOf(const Switch &unit) {
  std::string name;
  for (const std::string &node : unit.nodes)
    name += (name.empty() ? "" : " + ") + node;
  return name;
}

static std::string digits(double value) {
  char text[40];
  snprintf(text, sizeof(text), "%.6f", value);
  return text;
}

void ingot::tools::printSensitivity(const Probe &probe,
                                    const Sensitivity &sensitivity) {
  std::vector<std::vector<std::string>> rows = {
      {"layer", "relative error of the outputs", "tensor"}};
  for (const LayerError &layer : sensitivity.layers) {
    const Switch &unit = probe.units()[layer.unit];
    rows.push_back({formatLine(nameOf(unit), 60), digits(layer.alone),
                    formatLine(probe.tensorOf(layer.unit), 60)});
  }
  printf("\nlayers, each alone in int8 and all others in fp32, %llu samples, "
         "the worst first:\n",
         static_cast<unsigned long long>(sensitivity.samples));
  printTable(rows);
  printf("\nall layers in int8: %s\n", digits(sensitivity.all).c_str());
  for (const Sensitivity::Kept &kept : sensitivity.kept)
    printf("all but the worst %zu: %s\n", kept.count,
           digits(kept.error).c_str());
  // Choose the count that halves the error, or the largest that fits into a
  // line.
  constexpr size_t kMostOfLine = 16;
  const Sensitivity::Kept *best = nullptr;
  for (const Sensitivity::Kept &kept : sensitivity.kept)
    if (!best ||
        (best->error > sensitivity.all / 2 && kept.count <= kMostOfLine))
      best = &kept;
  if (!best)
    return;
  printf("\nto keep the worst %zu in fp32:\n  ingot compile … %s\n",
         best->count, keepArguments(probe, sensitivity, best->count).c_str());
}

void ingot::tools::writeSensitivity(const Probe &probe,
                                    const Sensitivity &sensitivity,
                                    JsonWriter &json) {
  json.begin("sensitivity", '{')
      .member("samples", sensitivity.samples)
      .member("relative_error", sensitivity.all);
  json.begin("layers", '[');
  for (const LayerError &layer : sensitivity.layers) {
    const Switch &unit = probe.units()[layer.unit];
    json.line().begin('{').begin("nodes", '[');
    for (const std::string &node : unit.nodes)
      json.element(node);
    json.end(']')
        .member("tensor", probe.tensorOf(layer.unit))
        .member("relative_error", layer.alone)
        .member("keep", keepRule(unit.nodes.front()))
        .end('}');
  }
  json.end(']').begin("kept", '[');
  for (const Sensitivity::Kept &kept : sensitivity.kept)
    json.line()
        .begin('{')
        .member("layers", uint64_t(kept.count))
        .member("relative_error", kept.error)
        .member("arguments", keepArguments(probe, sensitivity, kept.count))
        .end('}');
  json.end(']').end('}');
}
