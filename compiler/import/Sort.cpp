//===- Sort.cpp - nodes in topological order ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/import/Sort.h"

#include "compiler/import/Message.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <functional>
#include <queue>

using namespace llvm;

namespace ingot::importer {
namespace {

using Nodes = google::protobuf::RepeatedPtrField<pb::NodeProto>;
/// For each node, the indices of the nodes that produce its inputs.
using Needs = std::vector<SmallVector<int>>;

class Sorter {
public:
  /// Sorts `nodes` and the graphs in them. `given` holds the graph's inputs and
  /// initializers. Appends the names that are defined outside to `captured`.
  Error sort(Nodes &nodes, const StringSet<> &given,
             std::vector<StringRef> &captured);
  Error sort(pb::GraphProto &graph, std::vector<StringRef> &captured);

  bool isChanged = false;

private:
  static std::vector<int> order(const Needs &needs, std::vector<int> &missing);
};

/// Describes a cycle of nodes, which prevents sorting. `missing` counts for
/// each node the producers that are not placed yet.
std::string describeCycle(const Nodes &nodes, const Needs &needs,
                          ArrayRef<int> missing) {
  auto isStuck = [&](int i) { return missing[i] > 0; };
  // Each unplaced node needs another unplaced node, so the walk ends in a
  // cycle.
  int at = int(llvm::find_if(missing, [](int n) { return n > 0; }) -
               missing.begin());
  std::vector<bool> isSeen(needs.size());
  while (!isSeen[at]) {
    isSeen[at] = true;
    at = *llvm::find_if(needs[at], isStuck);
  }
  constexpr int kShown = 4;
  std::string text = "the graph has a cycle: " + describe(nodes[at]);
  int next = at;
  for (int shown = 1;; ++shown) {
    next = *llvm::find_if(needs[next], isStuck);
    text += shown == 1 ? " takes " : ", which takes ";
    if (next == at)
      return text + (shown == 1 ? "its own result"
                                : "a result of " + describe(nodes[at]));
    if (shown == kShown)
      return text + "a result of further nodes of the cycle";
    text += "a result of " + describe(nodes[next]);
  }
}

/// Returns a topological order that preserves the given order where possible.
/// Leaves out nodes on a cycle or behind one. `missing` stays above 0 for these
/// nodes.
std::vector<int> Sorter::order(const Needs &needs, std::vector<int> &missing) {
  Needs users(needs.size());
  std::priority_queue<int, std::vector<int>, std::greater<int>> ready;
  missing.resize(needs.size());
  for (auto [i, producers] : llvm::enumerate(needs)) {
    missing[i] = int(producers.size());
    for (int producer : producers)
      users[producer].push_back(int(i));
    if (producers.empty())
      ready.push(int(i));
  }
  std::vector<int> sorted;
  sorted.reserve(needs.size());
  while (!ready.empty()) {
    int node = ready.top();
    ready.pop();
    sorted.push_back(node);
    for (int user : users[node])
      if (--missing[user] == 0)
        ready.push(user);
  }
  return sorted;
}

Error Sorter::sort(Nodes &nodes, const StringSet<> &given,
                   std::vector<StringRef> &captured) {
  StringMap<int> producers;
  for (auto [i, node] : llvm::enumerate(nodes))
    for (const std::string &output : node.output())
      if (!output.empty() && !given.contains(output))
        producers.try_emplace(output, int(i));
  Needs needs(size_t(nodes.size()));
  bool isSorted = true;
  for (auto [i, node] : llvm::enumerate(nodes)) {
    std::vector<StringRef> used(node.input().begin(), node.input().end());
    for (pb::AttributeProto &attr : *node.mutable_attribute()) {
      if (attr.has_g())
        if (Error error = sort(*attr.mutable_g(), used))
          return error;
      for (pb::GraphProto &graph : *attr.mutable_graphs())
        if (Error error = sort(graph, used))
          return error;
    }
    for (StringRef name : used) {
      if (name.empty() || given.contains(name))
        continue;
      auto producer = producers.find(name);
      if (producer == producers.end()) {
        captured.push_back(name);
        continue;
      }
      needs[i].push_back(producer->second);
      isSorted &= producer->second < int(i);
    }
  }
  if (isSorted)
    return Error::success();
  std::vector<int> missing;
  std::vector<int> sorted = order(needs, missing);
  if (sorted.size() != needs.size())
    return makeError(describeCycle(nodes, needs, missing));
  Nodes moved;
  moved.Reserve(nodes.size());
  for (int i : sorted)
    moved.Add()->Swap(nodes.Mutable(i));
  nodes.Swap(&moved);
  isChanged = true;
  return Error::success();
}

Error Sorter::sort(pb::GraphProto &graph, std::vector<StringRef> &captured) {
  StringSet<> given;
  for (const pb::ValueInfoProto &input : graph.input())
    given.insert(input.name());
  for (const pb::TensorProto &tensor : graph.initializer())
    given.insert(tensor.name());
  for (const pb::SparseTensorProto &tensor : graph.sparse_initializer())
    given.insert(tensor.values().name());
  return sort(*graph.mutable_node(), given, captured);
}

} // namespace

Expected<bool> sortNodes(pb::ModelProto &model) {
  Sorter sorter;
  std::vector<StringRef> captured;
  if (Error error = sorter.sort(*model.mutable_graph(), captured))
    return std::move(error);
  for (pb::FunctionProto &function : *model.mutable_functions()) {
    StringSet<> given;
    for (const std::string &input : function.input())
      given.insert(input);
    if (Error error = sorter.sort(*function.mutable_node(), given, captured))
      return makeError("function " + quote(function.name()) + ": " +
                       toString(std::move(error)));
  }
  return sorter.isChanged;
}

} // namespace ingot::importer
