//===- ChannelSets.cpp - channels that are removed together ---------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/graph/prune/ChannelSets.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>

using namespace ingot::graph;

ChannelList ChannelSets::addList(int64_t count) {
  std::vector<Channel> fresh(count);
  std::iota(fresh.begin(), fresh.end(), Channel(parents.size()));
  parents.insert(parents.end(), fresh.begin(), fresh.end());
  reasons.resize(parents.size());
  return addList(std::move(fresh));
}

ChannelList ChannelSets::addList(std::vector<Channel> channels) {
  lists.push_back(std::move(channels));
  isKept.push_back(false);
  return lists.size() - 1;
}

Channel ChannelSets::setOf(Channel channel) const {
  while (parents[channel] != channel) {
    parents[channel] = parents[parents[channel]];
    channel = parents[channel];
  }
  return channel;
}

void ChannelSets::unite(Channel a, Channel b) {
  a = setOf(a);
  b = setOf(b);
  parents[std::max(a, b)] = std::min(a, b);
}

void ChannelSets::uniteLists(ChannelList a, ChannelList b) {
  if (a == b)
    return;
  for (auto [one, other] : llvm::zip_equal(lists[a], lists[b]))
    unite(one, other);
}

void ChannelSets::keep(ChannelList list, llvm::StringRef why) {
  if (isKept[list])
    return;
  isKept[list] = true;
  for (Channel channel : lists[list])
    if (reasons[channel].empty())
      reasons[channel] = why;
}
