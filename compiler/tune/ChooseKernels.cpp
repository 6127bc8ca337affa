//===- ChooseKernels.cpp - chooses the faster kernels ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/tune/ChooseKernels.h"

#include "compiler/pipeline/Backends.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"

using namespace llvm;
using namespace ingot;

/// Speedup that the other backend must reach. Using it costs a library and time
/// to load, and measurements have noise.
static constexpr double kLeastGain = 1.05;

const Backend &ingot::otherBackend() {
  const auto *other = llvm::find_if(getBackends(), [](const Backend *backend) {
    return backend->device() == kCpu && backend->name() != kDefaultKernels &&
           !backend->takesRest();
  });
  assert(other != getBackends().end() && "another backend is in the list");
  return **other;
}

std::vector<LayerChoice> ingot::chooseForLayers(ArrayRef<LayerTime> native,
                                                ArrayRef<LayerTime> other) {
  EquivalenceClasses<StringRef> classes;
  for (ArrayRef<LayerTime> layers : {native, other})
    for (const LayerTime &layer : layers)
      for (const std::string &node : layer.nodes)
        classes.unionSets(layer.nodes.front(), node);
  MapVector<StringRef, LayerChoice> groups;
  auto add = [&](ArrayRef<LayerTime> layers, double LayerChoice::*time) {
    for (const LayerTime &layer : layers)
      if (!layer.nodes.empty())
        groups[classes.getLeaderValue(layer.nodes.front())].*time += layer.ms;
  };
  add(native, &LayerChoice::nativeMs);
  add(other, &LayerChoice::otherMs);
  std::vector<LayerChoice> result;
  for (auto &[leader, group] : groups) {
    for (StringRef node : classes.members(leader))
      group.nodes.push_back(node.str());
    llvm::sort(group.nodes);
    if (group.nativeMs > kLeastGain * group.otherMs)
      group.kernels = Kernels::other;
    result.push_back(std::move(group));
  }
  return result;
}

Kernels ingot::chooseForModel(double nativeMs, double otherMs, double mixedMs) {
  if (nativeMs <= kLeastGain * std::min(otherMs, mixedMs))
    return Kernels::native;
  return otherMs <= mixedMs ? Kernels::other : Kernels::mixed;
}
