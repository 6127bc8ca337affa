//===- MeasureArtifact.cpp - times for the compiler's choices -------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/compile/MeasureArtifact.h"

#include "client/measure/Distribution.h"
#include "client/measure/Measure.h"

using namespace ingot;
using namespace ingot::tools;

std::string study::measureArtifact(llvm::StringRef artifact, bool withLayers,
                                   ArtifactTimes &times) {
  MeasureOptions options;
  options.model = artifact.str();
  options.warmUpMs = 100;
  options.durationMs = 300;
  options.profiles = withLayers;
  options.measuresPeaks = false;
  BenchResult result;
  if (std::string problem = measureModel(options, result); !problem.empty())
    return problem;
  times.latencyMs = Distribution(result.latencies()).median();
  for (LayerResult &layer : result.layers)
    times.layers.push_back({std::move(layer.nodes), layer.medianMs});
  times.target = std::move(result.target);
  times.cpu = std::move(result.cpu);
  times.threads = result.threads;
  return "";
}
