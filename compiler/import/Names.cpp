//===- Names.cpp - every value is defined, and only once ------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks the names of values and nodes. ONNX's checker checks names, too, but
// it reports every mistake as an unsorted graph.
//
//===----------------------------------------------------------------------===//
#include "compiler/import/Validate.h"
#include "compiler/import/Message.h"

#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace ingot::importer {
namespace {

struct Scope {
  const Scope *parent = nullptr;
  StringSet<> names;

  bool contains(StringRef name) const {
    return names.contains(name) || (parent && parent->contains(name));
  }
};

Error checkNode(const pb::NodeProto &node, Scope &scope);

template <typename Nodes> Error checkNodes(const Nodes &nodes, Scope &scope) {
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
      return makeError("input " + quote(input.name()) + " is declared twice");
  StringSet<> initializers;
  for (const pb::TensorProto &tensor : graph.initializer()) {
    if (!initializers.insert(tensor.name()).second)
      return makeError("there are two initializers " + quote(tensor.name()));
    scope.names.insert(tensor.name());
  }
  for (const pb::SparseTensorProto &tensor : graph.sparse_initializer()) {
    if (!initializers.insert(tensor.values().name()).second)
      return makeError("there are two initializers " +
                       quote(tensor.values().name()));
    scope.names.insert(tensor.values().name());
  }
  if (Error error = checkNodes(graph.node(), scope))
    return error;
  for (const pb::ValueInfoProto &output : graph.output())
    if (!scope.contains(output.name()))
      return makeError("output " + quote(output.name()) +
                       " is computed by no node");
  return Error::success();
}

Error checkNode(const pb::NodeProto &node, Scope &scope) {
  for (const std::string &input : node.input()) {
    if (!input.empty() && !scope.contains(input))
      return makeError(describe(node) + ": input " + quote(input) +
                       " is defined nowhere");
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
      return makeError(describe(node) + ": output " + quote(output) +
                       " is defined already");
    scope.names.insert(output);
  }
  return Error::success();
}

/// Refuses a name with a NUL character. C strings end at a NUL, so two names
/// that differ only behind a NUL would be equal.
Error checkNul(StringRef name, StringRef what) {
  if (!name.contains('\0'))
    return Error::success();
  return makeError("the name of " + what + ", " + quote(name) +
                   ", holds a NUL character; rename it");
}

template <typename Infos> Error checkNulInfos(const Infos &infos) {
  for (const pb::ValueInfoProto &info : infos) {
    if (Error error = checkNul(info.name(), "a value"))
      return error;
    for (const auto &dim : info.type().tensor_type().shape().dim())
      if (Error error = checkNul(dim.dim_param(), "a dimension"))
        return error;
  }
  return Error::success();
}

template <typename Names> Error checkNulNames(const Names &names) {
  for (const std::string &name : names)
    if (Error error = checkNul(name, "a value"))
      return error;
  return Error::success();
}

Error checkNulNode(const pb::NodeProto &node) {
  if (Error error = checkNul(node.name(), "a node"))
    return error;
  if (Error error = checkNul(node.op_type(), "an operator"))
    return error;
  if (Error error = checkNul(node.domain(), "a domain"))
    return error;
  if (Error error = checkNul(node.overload(), "an overload"))
    return error;
  for (const pb::AttributeProto &attr : node.attribute())
    if (Error error = checkNul(attr.name(), "an attribute"))
      return error;
  if (Error error = checkNulNames(node.input()))
    return error;
  return checkNulNames(node.output());
}

Error checkNulGraph(const pb::GraphProto &graph) {
  if (Error error = checkNul(graph.name(), "a graph"))
    return error;
  for (const pb::TensorProto &tensor : graph.initializer())
    if (Error error = checkNul(tensor.name(), "an initializer"))
      return error;
  for (const pb::SparseTensorProto &tensor : graph.sparse_initializer())
    if (Error error = checkNul(tensor.values().name(), "an initializer"))
      return error;
  if (Error error = checkNulInfos(graph.input()))
    return error;
  return checkNulInfos(graph.output());
}

Error refuseNul(pb::ModelProto &model) {
  for (const pb::OperatorSetIdProto &import : model.opset_import())
    if (Error error = checkNul(import.domain(), "a domain"))
      return error;
  for (const pb::StringStringEntryProto &entry : model.metadata_props()) {
    if (Error error = checkNul(entry.key(), "a metadata entry"))
      return error;
    if (StringRef(entry.value()).contains('\0'))
      return makeError("metadata entry " + quote(entry.key()) +
                       " holds a NUL character");
  }
  for (const pb::FunctionProto &function : model.functions()) {
    for (const std::string *name :
         {&function.name(), &function.domain(), &function.overload()})
      if (Error error = checkNul(*name, "a function"))
        return error;
    if (Error error = checkNulNames(function.input()))
      return error;
    if (Error error = checkNulNames(function.output()))
      return error;
    if (Error error = checkNulNames(function.attribute()))
      return error;
  }
  if (Error error = forEachGraph(model, [](pb::GraphProto &graph) {
        return checkNulGraph(graph);
      }))
    return error;
  return forEachNode(
      model, [](pb::NodeProto &node) { return checkNulNode(node); });
}

} // namespace

Error validateNames(pb::ModelProto &model) {
  if (Error error = refuseNul(model))
    return error;
  if (Error error = checkGraph(model.graph(), nullptr))
    return error;
  for (const pb::FunctionProto &function : model.functions()) {
    Scope scope;
    for (const std::string &input : function.input())
      scope.names.insert(input);
    if (Error error = checkNodes(function.node(), scope))
      return makeError("function " + quote(function.name()) + ": " +
                       toString(std::move(error)));
  }
  return Error::success();
}

} // namespace ingot::importer
