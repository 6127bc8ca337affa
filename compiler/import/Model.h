//===- Model.h - a model while it is imported -------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_IMPORT_MODEL_H
#define INGOT_COMPILER_IMPORT_MODEL_H

#include "compiler/import/Import.h"
#include "compiler/import/SetAside.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace ingot::importer {

/// An ONNX model whose large tensors are set aside. After `resolveExternalData`
/// no other external data is left.
struct Model {
  pb::ModelProto proto;
  SetAside setAside;
  Blob file;
  /// The version of ONNX's operators that the file states, 0 if none.
  int64_t statedOpset = 0;
  /// The most elements that a tensor may have.
  int64_t maxTensorElements = onnx::kLargestTensor;
  /// What the file says of the graph's values, which ONNX infers afresh.
  llvm::StringMap<pb::TypeProto> statedTypes;
  /// Scopes of nodes, by their names: conversions of versions drop metadata.
  llvm::StringMap<std::string> scopes;
};

/// The model's import of an operator set, or null.
pb::OperatorSetIdProto *findImport(pb::ModelProto &model,
                                   llvm::StringRef domain);
/// The version of it, or 0.
int64_t getOpset(pb::ModelProto &model, llvm::StringRef domain);

/// Name and operator of a node, for messages.
std::string describe(const pb::NodeProto &node);
/// A node's name, or what stands for it.
std::string nodeName(const pb::NodeProto &node);

/// The module that PyTorch's exporter notes for a node, such as
/// "stem.conv_kxk"; "" if the node says nothing.
std::string nodeScope(const pb::NodeProto &node);

/// Fills `model.scopes`.
void collectScopes(Model &model);

/// What a tensor is called: an initializer, or one in an attribute of `node`.
std::string describeTensor(const pb::TensorProto &tensor,
                           const pb::NodeProto *node);

/// Calls `fn` for each graph of the model, functions' subgraphs included, outer
/// before inner; stops at the first error.
llvm::Error forEachGraph(pb::ModelProto &model,
                         llvm::function_ref<llvm::Error(pb::GraphProto &)> fn);
/// The same for nodes, in program order, outer before inner.
llvm::Error forEachNode(pb::ModelProto &model,
                        llvm::function_ref<llvm::Error(pb::NodeProto &)> fn);
llvm::Error forEachNode(pb::GraphProto &graph,
                        llvm::function_ref<llvm::Error(pb::NodeProto &)> fn);
/// The same for tensors, those that sparse ones and default values of
/// functions' attributes are made of included; `node` is null for initializers.
llvm::Error forEachTensor(
    pb::ModelProto &model,
    llvm::function_ref<llvm::Error(pb::TensorProto &, const pb::NodeProto *)>
        fn);

} // namespace ingot::importer

#endif // INGOT_COMPILER_IMPORT_MODEL_H
