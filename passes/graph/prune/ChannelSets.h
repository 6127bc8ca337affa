//===- ChannelSets.h - channels that vanish together ------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each tensor whose channels are followed has a list of them. The same channel
// may stand in several lists (of a tensor and of its concatenation), or more
// than once in one (of what was flattened). Channels that have to stay or go
// together, as those of a residual sum, are one set.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_GRAPH_PRUNE_CHANNELSETS_H
#define INGOT_PASSES_GRAPH_PRUNE_CHANNELSETS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <deque>
#include <vector>

namespace ingot::graph {

using Channel = unsigned;
/// The number of a list of channels.
using ChannelList = unsigned;

class ChannelSets {
public:
  /// A list of new channels, or of known ones.
  ChannelList addList(int64_t count);
  ChannelList addList(std::vector<Channel> channels);
  llvm::ArrayRef<Channel> channels(ChannelList list) const {
    return lists[list];
  }
  size_t numLists() const { return lists.size(); }
  size_t numChannels() const { return parents.size(); }

  void unite(Channel a, Channel b);
  /// Channel by channel, of two lists of one length.
  void uniteLists(ChannelList a, ChannelList b);
  /// The channel that stands for the set.
  Channel setOf(Channel channel) const;

  /// All of a list stay; `why` is half a sentence about a channel.
  void keep(ChannelList list, llvm::StringRef why);
  /// Why a channel itself has to stay; empty if nothing said so.
  llvm::StringRef whyKept(Channel channel) const { return reasons[channel]; }

private:
  /// Of a set the smallest channel is the root.
  mutable std::vector<Channel> parents;
  std::vector<llvm::StringRef> reasons;
  /// Its elements do not move.
  std::deque<std::vector<Channel>> lists;
  std::vector<bool> isKept;
};

} // namespace ingot::graph

#endif // INGOT_PASSES_GRAPH_PRUNE_CHANNELSETS_H
