//===- ChannelRemoval.cpp - channels that can be removed ------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/graph/prune/ChannelRemoval.h"

using namespace mlir;
using namespace ingot::graph;

static constexpr int64_t kNobody = -1;
static constexpr StringLiteral kRead(
    "is read where padding or other channels meet it");
static constexpr StringLiteral kLast("is the last one of a tensor");
static constexpr StringLiteral kFillsVector(
    "fills a vector of a depthwise convolution");

/// Finds the first remaining output from `from` on that reads the input, and
/// makes the input watch it. Returns false if there is no such output.
bool ChannelRemoval::watch(unsigned number, int64_t input, int64_t from) {
  const WeightedProduct &product = flow.products[number];
  const ProductWeights &weights = product.weights;
  ArrayRef<Channel> outputs = flow.sets.channels(product.outputs);
  int64_t first = weights.groupOfInput(input) * weights.outputsOfGroup();
  for (int64_t output = std::max(from, first);
       output < first + weights.outputsOfGroup(); ++output) {
    if (isRemoved(outputs[output]) || weights.isZero(output, input))
      continue;
    watches[number].next[input] = watches[number].first[output];
    watches[number].first[output] = input;
    return true;
  }
  return false;
}

void ChannelRemoval::release(unsigned number, int64_t output) {
  const WeightedProduct &product = flow.products[number];
  if (!product.inputs || product.inWholeGroups)
    return;
  ArrayRef<Channel> inputs = flow.sets.channels(*product.inputs);
  int64_t input = std::exchange(watches[number].first[output], kNobody);
  while (input != kNobody) {
    int64_t next = watches[number].next[input];
    if (!watch(number, input, output + 1)) {
      Channel set = flow.sets.setOf(inputs[input]);
      if (--users[set] == 0)
        unread.push_back(set);
    }
    input = next;
  }
}

/// Removes a set from its lists. Returns false if a tensor would lose all its
/// channels.
bool ChannelRemoval::tryRemove(Channel set) {
  bool isLast = false;
  for (ChannelList list : places[set])
    isLast |= --left[list] == 0;
  if (!isLast)
    return true;
  for (ChannelList list : places[set])
    ++left[list];
  reasons[set] = kLast;
  return false;
}

StringRef ChannelRemoval::whyKept(Channel channel) const {
  StringRef reason = reasons[flow.sets.setOf(channel)];
  return reason.empty() ? StringRef(kRead) : reason;
}

void ChannelRemoval::indexSets() {
  const ChannelSets &sets = flow.sets;
  fillsVector.resize(sets.numChannels());
  places.resize(sets.numChannels());
  outputsOf.resize(sets.numChannels());
  for (ChannelList list = 0; list < sets.numLists(); ++list)
    for (Channel channel : sets.channels(list))
      places[sets.setOf(channel)].push_back(list);
  for (auto [number, product] : llvm::enumerate(flow.products))
    for (auto [output, channel] :
         llvm::enumerate(sets.channels(product.outputs)))
      outputsOf[sets.setOf(channel)].push_back({number, output});
}

void ChannelRemoval::propagate() {
  const ChannelSets &sets = flow.sets;
  removed.assign(sets.numChannels(), false);
  users.assign(sets.numChannels(), 0);
  reasons.assign(sets.numChannels(), {});
  watches.assign(flow.products.size(), {});
  unread.clear();
  left.clear();
  for (ChannelList list = 0; list < sets.numLists(); ++list)
    left.push_back(sets.channels(list).size());
  for (Channel channel = 0; channel < sets.numChannels(); ++channel) {
    StringRef why = sets.whyKept(channel);
    if (why.empty() && fillsVector[channel])
      why = kFillsVector;
    if (why.empty())
      continue;
    ++users[sets.setOf(channel)];
    reasons[sets.setOf(channel)] = why;
  }
  for (auto [number, product] : llvm::enumerate(flow.products)) {
    if (!product.inputs || product.inWholeGroups)
      continue;
    watches[number].first.assign(product.weights.outputs, kNobody);
    watches[number].next.assign(product.weights.inputs, kNobody);
    for (auto [input, channel] :
         llvm::enumerate(sets.channels(*product.inputs)))
      if (!product.isFolded(input) && watch(number, input, 0))
        ++users[sets.setOf(channel)];
  }
  for (Channel channel = 0; channel < sets.numChannels(); ++channel)
    if (sets.setOf(channel) == channel && users[channel] == 0)
      unread.push_back(channel);
  for (size_t i = 0; i < unread.size(); ++i) {
    Channel set = unread[i];
    if (!tryRemove(set))
      continue;
    removed[set] = true;
    for (auto [number, output] : outputsOf[set])
      release(number, output);
  }
}

/// Marks removed channels as kept, so that depthwise convolutions have whole
/// vectors. Returns false if there was nothing to mark.
bool ChannelRemoval::fillVectors() {
  bool changed = false;
  for (const WeightedProduct &product : flow.products) {
    ArrayRef<Channel> channels = flow.sets.channels(product.outputs);
    int64_t unit = channels.size() % 16 == 0 ? 16 : 8;
    if (product.weights.groups == 1 || product.weights.inputsOfGroup() != 1 ||
        channels.size() % unit != 0)
      continue;
    for (Channel channel : channels) {
      if (left[product.outputs] % unit == 0)
        break;
      Channel set = flow.sets.setOf(channel);
      if (!removed[set])
        continue;
      removed[set] = false;
      fillsVector[set] = changed = true;
      for (ChannelList list : places[set])
        ++left[list];
    }
  }
  return changed;
}

ChannelRemoval::ChannelRemoval(const ChannelFlow &flow) : flow(flow) {
  indexSets();
  do
    propagate();
  while (fillVectors());
  const ChannelSets &sets = flow.sets;
  for (ChannelList list = 0; list < sets.numLists(); ++list) {
    keptOf.emplace_back();
    for (auto [place, channel] : llvm::enumerate(sets.channels(list)))
      if (!isRemoved(channel))
        keptOf.back().push_back(place);
  }
}
