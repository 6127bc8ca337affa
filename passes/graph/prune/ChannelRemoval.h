//===- ChannelRemoval.h - channels that can be removed ----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds the channels that can be removed. A set of channels is removed if no
// reason keeps one of its channels and no product reads one. A product does not
// read a constant input that its bias can absorb. It also does not read an
// input whose weights to all remaining outputs are zero. So removing outputs
// may make inputs removable; this is repeated until nothing changes.
//
// Each input that is read watches one output: the first one with a nonzero
// weight. When that output is removed, the search for the next one continues
// from there. So the analysis takes one pass over the weights, however long the
// chains are.
//
// Channels of depthwise convolutions are removed only in whole vectors, if
// their number was a multiple of a vector before. Such convolutions are bound
// by loads, and are slower if rows do not start at a vector. The channels that
// fill up a vector are marked as kept, and the analysis runs again.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_GRAPH_PRUNE_CHANNELREMOVAL_H
#define INGOT_PASSES_GRAPH_PRUNE_CHANNELREMOVAL_H

#include "passes/graph/prune/ChannelFlow.h"

namespace ingot::graph {

class ChannelRemoval {
public:
  explicit ChannelRemoval(const ChannelFlow &flow);

  bool isRemoved(Channel channel) const {
    return removed[flow.sets.setOf(channel)];
  }
  /// Returns the positions of the remaining channels in a list.
  const llvm::SmallVector<int64_t> &kept(ChannelList list) const {
    return keptOf[list];
  }
  bool changes(ChannelList list) const {
    return keptOf[list].size() != flow.sets.channels(list).size();
  }
  /// Returns why a constant channel was not removed.
  llvm::StringRef whyKept(Channel channel) const;

private:
  /// For each output of a product, a linked list of the inputs that watch it.
  struct Watch {
    std::vector<int64_t> first, next;
  };

  void indexSets();
  void propagate();
  bool fillVectors();
  bool watch(unsigned product, int64_t input, int64_t from);
  bool tryRemove(Channel set);
  void release(unsigned product, int64_t output);

  const ChannelFlow &flow;
  /// Data of each set, indexed by its representative channel. `places` holds
  /// the lists that contain channels of the set, with repetitions. `outputsOf`
  /// holds the product outputs in the set.
  std::vector<bool> removed, fillsVector;
  std::vector<unsigned> users;
  std::vector<llvm::StringRef> reasons;
  std::vector<llvm::SmallVector<ChannelList, 2>> places;
  std::vector<llvm::SmallVector<std::pair<unsigned, int64_t>, 1>> outputsOf;
  /// Data of each list.
  std::vector<int64_t> left;
  std::vector<llvm::SmallVector<int64_t>> keptOf;
  /// Data of each product.
  std::vector<Watch> watches;
  std::vector<Channel> unread;
};

} // namespace ingot::graph

#endif // INGOT_PASSES_GRAPH_PRUNE_CHANNELREMOVAL_H
