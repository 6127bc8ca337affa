//===- Model.h - a model while it is imported ------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_IMPORT_MODEL_H
#define INGOT_COMPILER_IMPORT_MODEL_H

#include "compiler/import/Import.h"
#include "compiler/import/MappedFile.h"

// protobuf's headers warn.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunused-parameter"
#include "onnx/onnx_pb.h"
#pragma clang diagnostic pop

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace ingot::importer {

/// ONNX's own classes; ingot::onnx is the dialect.
namespace pb = ::onnx;

/// An ONNX model whose large tensors are set aside: such a tensor has
/// data_location EXTERNAL and names its blob (see Skeleton.h). After
/// `resolveExternalData` no other external data is left.
struct Model {
  pb::ModelProto proto;
  std::vector<Blob> blobs;
  /// What keeps the blobs of the model file itself alive.
  Blob file;
};

/// Name and operator of a node, for messages.
std::string describe(const pb::NodeProto &node);
/// A node's name, or what stands for it.
std::string nodeName(const pb::NodeProto &node);

/// The number of the blob that holds the data of `tensor`, if it is set aside.
std::optional<size_t> getBlobNumber(const pb::TensorProto &tensor);
/// Sets the data of `tensor` aside.
void setBlob(Model &model, pb::TensorProto &tensor, Blob blob);

/// Calls `fn` for each graph of the model, functions' subgraphs included, outer
/// before inner; stops at the first error.
llvm::Error
forEachGraph(pb::ModelProto &model,
             llvm::function_ref<llvm::Error(pb::GraphProto &)> fn);
/// The same for nodes, in program order, outer before inner.
llvm::Error forEachNode(pb::ModelProto &model,
                        llvm::function_ref<llvm::Error(pb::NodeProto &)> fn);
llvm::Error forEachNode(pb::GraphProto &graph,
                        llvm::function_ref<llvm::Error(pb::NodeProto &)> fn);
/// The same for dense tensors; `node` is null for initializers.
llvm::Error forEachTensor(
    pb::ModelProto &model,
    llvm::function_ref<llvm::Error(pb::TensorProto &, const pb::NodeProto *)>
        fn);

} // namespace ingot::importer

#endif // INGOT_COMPILER_IMPORT_MODEL_H
