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

/// An ONNX model whose large tensors are set aside. After
/// `resolveExternalData`, it has no other external data.
struct Model {
  pb::ModelProto proto;
  SetAside setAside;
  Blob file;
  /// The opset of ONNX's own domain that the file states; 0 if it states none.
  int64_t statedOpset = 0;
  /// The largest number of elements that a tensor may have.
  int64_t maxTensorElements = onnx::kLargestTensor;
  /// Types of the graph's values as stated in the file. ONNX infers the types
  /// again and may find others.
  llvm::StringMap<pb::TypeProto> statedTypes;
  /// Types of the graph's outputs as the file states them.
  llvm::StringMap<pb::TypeProto> statedOutputs;
  /// Scopes of nodes by node name. They are kept here, because version
  /// conversion drops the metadata.
  llvm::StringMap<std::string> scopes;
};

/// Returns the model's import of an operator set, or null.
pb::OperatorSetIdProto *findImport(pb::ModelProto &model,
                                   llvm::StringRef domain);
/// Returns the version of an imported operator set, or 0.
int64_t getOpset(pb::ModelProto &model, llvm::StringRef domain);

/// Returns a node's name and operator for messages.
std::string describe(const pb::NodeProto &node);
/// Returns a node's name, or a made-up name if it has none.
std::string nodeName(const pb::NodeProto &node);

/// Returns the module that PyTorch's exporter recorded for a node, for example
/// "stem.conv_kxk". Returns "" if there is none.
std::string nodeScope(const pb::NodeProto &node);

/// Fills `model.scopes`.
void collectScopes(Model &model);

/// Returns the name of a tensor for messages. If `node` is null, the tensor is
/// an initializer. Otherwise it belongs to an attribute of `node`.
std::string describeTensor(const pb::TensorProto &tensor,
                           const pb::NodeProto *node);

/// Calls `fn` for each graph of the model and of its functions, outer graphs
/// before inner ones. Stops at the first error.
llvm::Error forEachGraph(pb::ModelProto &model,
                         llvm::function_ref<llvm::Error(pb::GraphProto &)> fn);
/// Calls `fn` for each node in program order, outer nodes before inner ones.
/// Stops at the first error.
llvm::Error forEachNode(pb::ModelProto &model,
                        llvm::function_ref<llvm::Error(pb::NodeProto &)> fn);
llvm::Error forEachNode(pb::GraphProto &graph,
                        llvm::function_ref<llvm::Error(pb::NodeProto &)> fn);
/// Calls `fn` for each tensor. Visits the parts of sparse tensors and default
/// values of functions' attributes, too. `node` is null for initializers.
llvm::Error forEachTensor(
    pb::ModelProto &model,
    llvm::function_ref<llvm::Error(pb::TensorProto &, const pb::NodeProto *)>
        fn);

} // namespace ingot::importer

#endif // INGOT_COMPILER_IMPORT_MODEL_H
