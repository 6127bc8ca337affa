//===- ChooseKernels.cpp - whose kernels are faster -----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/tune/ChooseKernels.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"

using namespace llvm;
using namespace ingot;

/// oneDNN, which needs a library and milliseconds to load, must be this much
/// faster; also, what measuring cannot tell apart stays native.
static constexpr double kLeastGain = 1.05;

std::vector<LayerChoice> ingot::chooseForLayers(ArrayRef<LayerTime> native,
                                                ArrayRef<LayerTime> onednn) {
  EquivalenceClasses<StringRef> classes;
  for (ArrayRef<LayerTime> layers : {native, onednn})
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
  add(onednn, &LayerChoice::onednnMs);
  std::vector<LayerChoice> result;
  for (auto &[leader, group] : groups) {
    for (StringRef node : classes.members(leader))
      group.nodes.push_back(node.str());
    llvm::sort(group.nodes);
    if (group.nativeMs > kLeastGain * group.onednnMs)
      group.kernels = Kernels::onednn;
    result.push_back(std::move(group));
  }
  return result;
}

Kernels ingot::chooseForModel(double nativeMs, double onednnMs,
                              double mixedMs) {
  if (nativeMs <= kLeastGain * std::min(onednnMs, mixedMs))
    return Kernels::native;
  return onednnMs <= mixedMs ? Kernels::onednn : Kernels::mixed;
}
