//===- Model.cpp - a model while it is imported ---------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/import/Model.h"
#include "compiler/import/Message.h"
#include "dialects/nn/NodeName.h"

using namespace llvm;

namespace ingot::importer {

pb::OperatorSetIdProto *findImport(pb::ModelProto &model, StringRef domain) {
  for (pb::OperatorSetIdProto &import : *model.mutable_opset_import())
    if (import.domain() == domain)
      return &import;
  return nullptr;
}

int64_t getOpset(pb::ModelProto &model, StringRef domain) {
  pb::OperatorSetIdProto *import = findImport(model, domain);
  return import ? import->version() : 0;
}

std::string nodeName(const pb::NodeProto &node) {
  if (!node.name().empty())
    return node.name();
  for (const std::string &output : node.output())
    if (!output.empty())
      return node.op_type() + ":" + output;
  return node.op_type();
}

std::string describe(const pb::NodeProto &node) {
  std::string op = printable(node.op_type());
  if (!node.domain().empty())
    op = printable(node.domain()) + "::" + op;
  if (std::string scope = nodeScope(node); !scope.empty())
    op += ", " + printable(scope);
  return "node " + quote(nodeName(node)) + " (" + op + ")";
}

/// Splits the text of a Python list of strings, for example "['', 'stem',
/// 'conv']".
static SmallVector<std::string> splitPythonList(StringRef text) {
  SmallVector<std::string> parts;
  while (true) {
    size_t start = text.find_first_of("'\"");
    if (start == StringRef::npos)
      return parts;
    const char quote = text[start];
    text = text.drop_front(start + 1);
    std::string &part = parts.emplace_back();
    while (!text.empty() && text.front() != quote) {
      if (text.front() == '\\' && text.size() > 1)
        text = text.drop_front();
      part += text.front();
      text = text.drop_front();
    }
    text = text.drop_front(std::min<size_t>(text.size(), 1));
  }
}

std::string nodeScope(const pb::NodeProto &node) {
  for (const pb::StringStringEntryProto &entry : node.metadata_props()) {
    if (entry.key() != "pkg.torch.onnx.name_scopes")
      continue;
    // The list starts with the outermost module and ends with the node's own
    // name.
    SmallVector<std::string> scopes = splitPythonList(entry.value());
    return scopes.size() < 2 ? "" : scopes[scopes.size() - 2];
  }
  return "";
}

std::string describeTensor(const pb::TensorProto &tensor,
                           const pb::NodeProto *node) {
  if (node)
    return describe(*node) + ": tensor";
  return "initializer " + quote(tensor.name());
}

void collectScopes(Model &model) {
  consumeError(
      forEachNode(model.proto, [&](pb::NodeProto &node) -> Error {
        if (std::string scope = nodeScope(node); !scope.empty())
          model.scopes.try_emplace(nodeName(node), std::move(scope));
        return Error::success();
      }));
}

//===----------------------------------------------------------------------===//
// Walking
//===----------------------------------------------------------------------===//

namespace {

/// Visits graphs, nodes and attributes. The recursion is bounded, because the
/// skeleton and the text reader limit the nesting.
struct Walker {
  function_ref<Error(pb::GraphProto &)> onGraph;
  function_ref<Error(pb::NodeProto &)> onNode;
  /// Called with the attribute and its node. The node is null for a default
  /// value of a function's attribute.
  function_ref<Error(pb::AttributeProto &, const pb::NodeProto *)> onAttribute;

  Error walk(pb::AttributeProto &attr, const pb::NodeProto *node) {
    if (Error error = onAttribute(attr, node))
      return error;
    if (attr.has_g())
      if (Error error = walk(*attr.mutable_g()))
        return error;
    for (pb::GraphProto &graph : *attr.mutable_graphs())
      if (Error error = walk(graph))
        return error;
    return Error::success();
  }

  template <typename Nodes>
  Error walkNodes(Nodes &nodes) {
    for (pb::NodeProto &node : nodes) {
      if (Error error = onNode(node))
        return error;
      for (pb::AttributeProto &attr : *node.mutable_attribute())
        if (Error error = walk(attr, &node))
          return error;
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
    for (pb::FunctionProto &function : *model.mutable_functions()) {
      if (Error error = walkNodes(*function.mutable_node()))
        return error;
      for (pb::AttributeProto &attr : *function.mutable_attribute_proto())
        if (Error error = walk(attr, nullptr))
          return error;
    }
    return Error::success();
  }
};

Error ignoreNode(pb::NodeProto &) { return Error::success(); }
Error ignoreGraph(pb::GraphProto &) { return Error::success(); }
Error ignoreAttribute(pb::AttributeProto &, const pb::NodeProto *) {
  return Error::success();
}

} // namespace

Error forEachGraph(pb::ModelProto &model,
                   function_ref<Error(pb::GraphProto &)> fn) {
  return Walker{fn, ignoreNode, ignoreAttribute}.walk(model);
}

Error forEachNode(pb::ModelProto &model,
                  function_ref<Error(pb::NodeProto &)> fn) {
  return Walker{ignoreGraph, fn, ignoreAttribute}.walk(model);
}

Error forEachNode(pb::GraphProto &graph,
                  function_ref<Error(pb::NodeProto &)> fn) {
  return Walker{ignoreGraph, fn, ignoreAttribute}.walk(graph);
}

Error forEachTensor(
    pb::ModelProto &model,
    function_ref<Error(pb::TensorProto &, const pb::NodeProto *)> fn) {
  auto onSparse = [&](pb::SparseTensorProto &sparse,
                      const pb::NodeProto *node) -> Error {
    if (Error error = fn(*sparse.mutable_values(), node))
      return error;
    return fn(*sparse.mutable_indices(), node);
  };
  auto onGraph = [&](pb::GraphProto &graph) -> Error {
    for (pb::TensorProto &tensor : *graph.mutable_initializer())
      if (Error error = fn(tensor, nullptr))
        return error;
    for (pb::SparseTensorProto &sparse : *graph.mutable_sparse_initializer())
      if (Error error = onSparse(sparse, nullptr))
        return error;
    return Error::success();
  };
  auto onAttribute = [&](pb::AttributeProto &attr,
                         const pb::NodeProto *node) -> Error {
    if (attr.has_t())
      if (Error error = fn(*attr.mutable_t(), node))
        return error;
    for (pb::TensorProto &tensor : *attr.mutable_tensors())
      if (Error error = fn(tensor, node))
        return error;
    if (attr.has_sparse_tensor())
      if (Error error = onSparse(*attr.mutable_sparse_tensor(), node))
        return error;
    for (pb::SparseTensorProto &sparse : *attr.mutable_sparse_tensors())
      if (Error error = onSparse(sparse, node))
        return error;
    return Error::success();
  };
  return Walker{onGraph, ignoreNode, onAttribute}.walk(model);
}

} // namespace ingot::importer
