//===- ChannelSets.h - channels that are removed together -------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Numbers the channels of tensors and groups them into sets. Each tensor whose
// channels are followed has a list of channels. A channel may be in several
// lists (a tensor and its concatenation), or several times in one list (after a
// flatten). Channels that can only be removed together form a set, as the
// operands of a residual sum.
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
/// Index of a list of channels.
using ChannelList = unsigned;

class ChannelSets {
public:
  /// Adds a list of new channels, or of known ones. Returns its index.
  ChannelList addList(int64_t count);
  ChannelList addList(std::vector<Channel> channels);
  llvm::ArrayRef<Channel> channels(ChannelList list) const {
    return lists[list];
  }
  size_t numLists() const { return lists.size(); }
  size_t numChannels() const { return parents.size(); }

  void unite(Channel a, Channel b);
  /// Joins the sets of the channels of two lists of equal length, position by
  /// position.
  void uniteLists(ChannelList a, ChannelList b);
  /// Returns the representative of the channel's set.
  Channel setOf(Channel channel) const;

  /// Keeps all channels of a list. `why` is a phrase whose subject is the
  /// channel.
  void keep(ChannelList list, llvm::StringRef why);
  /// Returns why the channel itself is kept. The text is empty if no reason was
  /// given.
  llvm::StringRef whyKept(Channel channel) const { return reasons[channel]; }

private:
  /// Parents in the union-find forest. The root of a set is its smallest
  /// channel.
  mutable std::vector<Channel> parents;
  std::vector<llvm::StringRef> reasons;
  /// The channel lists. A deque, so that its elements do not move.
  std::deque<std::vector<Channel>> lists;
  std::vector<bool> isKept;
};

} // namespace ingot::graph

#endif // INGOT_PASSES_GRAPH_PRUNE_CHANNELSETS_H
