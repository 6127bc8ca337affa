//===- ChannelRemoval.h - which channels vanish -----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A set of channels vanishes if nothing keeps one of them and nobody reads one.
// A product does not read an input that is a constant, which its bias takes,
// nor one between which and all outputs that are left the weights are zero.
// Outputs that vanish may so set inputs free, until no more do.
//
// Each input that is read watches one output, the first with a weight that is
// not zero. Only when that vanishes it looks for the next, from there on: so
// all of this takes one pass over the weights, however long the chains are.
//
// Of channels that depthwise convolutions read, as many go as leave whole
// vectors, if they were whole before: such a convolution is mostly loads, and
// those of rows that do not start at a vector take a quarter longer. What is
// kept for that is kept from the start, in another round.
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
  /// The places in a list of channels that are left.
  const llvm::SmallVector<int64_t> &kept(ChannelList list) const {
    return keptOf[list];
  }
  bool changes(ChannelList list) const {
    return keptOf[list].size() != flow.sets.channels(list).size();
  }
  /// Why a channel that is a constant is still there.
  llvm::StringRef whyKept(Channel channel) const;

private:
  /// The outputs of a product, with the inputs that watch them as lists.
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
  /// By sets, as the channels that stand for them: who keeps or reads them,
  /// the lists where their channels stand, a list as often as they do, and the
  /// outputs that they are.
  std::vector<bool> removed, fillsVector;
  std::vector<unsigned> users;
  std::vector<llvm::StringRef> reasons;
  std::vector<llvm::SmallVector<ChannelList, 2>> places;
  std::vector<llvm::SmallVector<std::pair<unsigned, int64_t>, 1>> outputsOf;
  /// By lists.
  std::vector<int64_t> left;
  std::vector<llvm::SmallVector<int64_t>> keptOf;
  /// By products.
  std::vector<Watch> watches;
  std::vector<Channel> unread;
};

} // namespace ingot::graph

#endif // INGOT_PASSES_GRAPH_PRUNE_CHANNELREMOVAL_H
