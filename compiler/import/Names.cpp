//===- Names.cpp - every value is defined once, before it is used --------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// ONNX's checker looks at this, too, but says only that the nodes are not sorted,
// whatever the cause.
//
//===----------------------------------------------------------------------===//
#include "compiler/import/Validate.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace ingot::importer {
namespace {

struct Scope {
  const Scope *parent = nullptr;
  StringSet<> names;
  /// What computes a value somewhere in this graph.
  StringMap<const pb::NodeProto *> producers;

  bool contains(StringRef name) const {
    return names.contains(name) || (parent && parent->contains(name));
  }
};

Error checkNode(const pb::NodeProto &node, Scope &scope);

template <typename Nodes> Error checkNodes(const Nodes &nodes, Scope &scope) {
  for (const pb::NodeProto &node : nodes)
    for (const std::string &output : node.output())
      scope.producers.try_emplace(output, &node);
  for (const pb::NodeProto &node : nodes)
    if (Error error = checkNode(node, scope))
      return error;
  return Error::success();
}

Error checkGraph(const pb::GraphProto &graph, const Scope *parent) {
  Scope scope;
  scope.parent = parent;
  for (const pb::ValueInfoProto &input : graph.input())
    if (!scope.names.insert(input.name()).second)
      return makeError("input '" + input.name() + "' is declared twice");
  StringSet<> initializers;
  for (const pb::TensorProto &tensor : graph.initializer()) {
    if (!initializers.insert(tensor.name()).second)
      return makeError("there are two initializers '" + tensor.name() + "'");
    scope.names.insert(tensor.name());
  }
  for (const pb::SparseTensorProto &tensor : graph.sparse_initializer()) {
    if (!initializers.insert(tensor.values().name()).second)
      return makeError("there are two initializers '" +
                       tensor.values().name() + "'");
    scope.names.insert(tensor.values().name());
  }
  if (Error error = checkNodes(graph.node(), scope))
    return error;
  for (const pb::ValueInfoProto &output : graph.output())
    if (!scope.contains(output.name()))
      return makeError("output '" + output.name() + "' is computed by no node");
  return Error::success();
}

Error checkNode(const pb::NodeProto &node, Scope &scope) {
  for (const std::string &input : node.input()) {
    if (input.empty() || scope.contains(input))
      continue;
    const pb::NodeProto *producer = nullptr;
    for (const Scope *s = &scope; s && !producer; s = s->parent)
      producer = s->producers.lookup(input);
    if (!producer)
      return makeError(describe(node) + ": input '" + input +
                       "' is defined nowhere");
    return makeError(describe(node) + ": input '" + input +
                     "' is computed only later, by " + describe(*producer) +
                     ": the graph has a cycle, or its nodes are not sorted");
  }
  for (const pb::AttributeProto &attr : node.attribute()) {
    if (attr.has_g())
      if (Error error = checkGraph(attr.g(), &scope))
        return error;
    for (const pb::GraphProto &graph : attr.graphs())
      if (Error error = checkGraph(graph, &scope))
        return error;
  }
  for (const std::string &output : node.output()) {
    if (output.empty())
      continue;
    if (scope.contains(output))
      return makeError(describe(node) + ": output '" + output +
                       "' is defined already");
    scope.names.insert(output);
  }
  return Error::success();
}

} // namespace

Error validateNames(const pb::ModelProto &model) {
  if (Error error = checkGraph(model.graph(), nullptr))
    return error;
  for (const pb::FunctionProto &function : model.functions()) {
    Scope scope;
    for (const std::string &input : function.input())
      scope.names.insert(input);
    if (Error error = checkNodes(function.node(), scope))
      return makeError("function '" + function.name() + "': " +
                       toString(std::move(error)));
  }
  return Error::success();
}

} // namespace ingot::importer
