//===- Model.cpp - a model while it is imported --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/import/Model.h"

#include "compiler/import/Skeleton.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace ingot::importer {

std::string nodeName(const pb::NodeProto &node) {
  if (!node.name().empty())
    return node.name();
  for (const std::string &output : node.output())
    if (!output.empty())
      return node.op_type() + ":" + output;
  return node.op_type();
}

std::string describe(const pb::NodeProto &node) {
  std::string op = node.op_type();
  if (!node.domain().empty())
    op = node.domain() + "::" + op;
  return "node '" + nodeName(node) + "' (" + op + ")";
}

std::optional<size_t> getBlobNumber(const pb::TensorProto &tensor) {
  if (tensor.data_location() != pb::TensorProto::EXTERNAL)
    return std::nullopt;
  size_t number;
  for (const pb::StringStringEntryProto &entry : tensor.external_data())
    if (entry.key() == kBlobKey && to_integer(entry.value(), number, 10))
      return number;
  return std::nullopt;
}

void setBlob(Model &model, pb::TensorProto &tensor, Blob blob) {
  tensor.clear_raw_data();
  tensor.clear_float_data();
  tensor.clear_double_data();
  tensor.clear_int32_data();
  tensor.clear_int64_data();
  tensor.clear_uint64_data();
  tensor.clear_external_data();
  tensor.set_data_location(pb::TensorProto::EXTERNAL);
  pb::StringStringEntryProto *entry = tensor.add_external_data();
  entry->set_key(kBlobKey.str());
  entry->set_value(utostr(model.blobs.size()));
  model.blobs.push_back(std::move(blob));
}

//===----------------------------------------------------------------------===//
// Walking
//===----------------------------------------------------------------------===//

namespace {

/// Visits graphs and nodes; recursion is bounded by the nesting that the
/// skeleton and the text reader allow.
struct Walker {
  function_ref<Error(pb::GraphProto &)> onGraph;
  function_ref<Error(pb::NodeProto &)> onNode;

  template <typename Nodes> Error walkNodes(Nodes &nodes) {
    for (pb::NodeProto &node : nodes) {
      if (Error error = onNode(node))
        return error;
      for (pb::AttributeProto &attr : *node.mutable_attribute()) {
        if (attr.has_g())
          if (Error error = walk(*attr.mutable_g()))
            return error;
        for (pb::GraphProto &graph : *attr.mutable_graphs())
          if (Error error = walk(graph))
            return error;
      }
    }
    return Error::success();
  }

  Error walk(pb::GraphProto &graph) {
    if (Error error = onGraph(graph))
      return error;
    return walkNodes(*graph.mutable_node());
  }

  Error walk(pb::ModelProto &model) {
    if (Error error = walk(*model.mutable_graph()))
      return error;
    for (pb::FunctionProto &function : *model.mutable_functions())
      if (Error error = walkNodes(*function.mutable_node()))
        return error;
    return Error::success();
  }
};

Error ignoreNode(pb::NodeProto &) { return Error::success(); }
Error ignoreGraph(pb::GraphProto &) { return Error::success(); }

} // namespace

Error forEachGraph(pb::ModelProto &model,
                   function_ref<Error(pb::GraphProto &)> fn) {
  return Walker{fn, ignoreNode}.walk(model);
}

Error forEachNode(pb::ModelProto &model,
                  function_ref<Error(pb::NodeProto &)> fn) {
  return Walker{ignoreGraph, fn}.walk(model);
}

Error forEachNode(pb::GraphProto &graph,
                  function_ref<Error(pb::NodeProto &)> fn) {
  return Walker{ignoreGraph, fn}.walk(graph);
}

Error forEachTensor(
    pb::ModelProto &model,
    function_ref<Error(pb::TensorProto &, const pb::NodeProto *)> fn) {
  auto onGraph = [&](pb::GraphProto &graph) -> Error {
    for (pb::TensorProto &tensor : *graph.mutable_initializer())
      if (Error error = fn(tensor, nullptr))
        return error;
    return Error::success();
  };
  auto onNode = [&](pb::NodeProto &node) -> Error {
    for (pb::AttributeProto &attr : *node.mutable_attribute()) {
      if (attr.has_t())
        if (Error error = fn(*attr.mutable_t(), &node))
          return error;
      for (pb::TensorProto &tensor : *attr.mutable_tensors())
        if (Error error = fn(tensor, &node))
          return error;
    }
    return Error::success();
  };
  auto onFunction = [&]() -> Error {
    // Default values of a function's attributes are reached by no node.
    for (pb::FunctionProto &function : *model.mutable_functions())
      for (pb::AttributeProto &attr : *function.mutable_attribute_proto())
        if (attr.has_t())
          if (Error error = fn(*attr.mutable_t(), nullptr))
            return error;
    return Error::success();
  };
  if (Error error = Walker{onGraph, onNode}.walk(model))
    return error;
  return onFunction();
}

} // namespace ingot::importer
