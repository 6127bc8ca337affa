//===- OnnxBridge.cpp - calls into ONNX's library, which throws -----------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Calls ONNX's library, which throws exceptions. Exceptions are enabled only
// for this file, Functions.cpp, GuardedSchemas.cpp, OperandTypes.cpp and
// Versions.cpp.
//
//===----------------------------------------------------------------------===//
#include "compiler/import/OnnxBridge.h"

#include "compiler/import/Guard.h"
#include "compiler/import/GuardedSchemas.h"
#include "compiler/import/Message.h"
#include "compiler/import/Normalize.h"

#include "onnx/checker.h"
#include "onnx/defs/parser.h"
#include "onnx/shape_inference/implementation.h"

using namespace llvm;

namespace ingot::importer {

int64_t newestOpset() {
  return pb::OpSchemaRegistry::DomainToVersionRange::Instance()
      .LastReleaseVersionMap()
      .at("");
}

Error parseText(StringRef text, pb::ModelProto &model) {
  return guard([&]() -> Error {
    pb::OnnxParser parser(std::string_view(text.data(), text.size()));
    pb::Common::Status status = parser.Parse(model);
    if (!status.IsOK())
      return makeError(cleanParserMessage(status.ErrorMessage()));
    if (!parser.EndOfInput())
      return makeError("ONNX text: something follows the model");
    return Error::success();
  });
}

//===----------------------------------------------------------------------===//
// Checker
//===----------------------------------------------------------------------===//

/// Refuses experimental operators. ONNX's checker would accept them and print a
/// warning to stdout.
static Error refuseExperimental(pb::ModelProto &model) {
  return forEachNode(model, [](pb::NodeProto &node) -> Error {
    if (pb::checker::check_is_experimental_op(node))
      return makeError(describe(node) + ": this experimental operator was "
                       "removed from ONNX; export the model again");
    return Error::success();
  });
}

/// Replaces sparse tensors by small valid tensors, because the checker cannot
/// read sparse tensors that are set aside. The conversion to dense tensors
/// checks them instead.
static void replaceSparse(pb::ModelProto &model) {
  auto empty = [](pb::SparseTensorProto &sparse) {
    std::string name = sparse.values().name();
    sparse.Clear();
    sparse.add_dims(1);
    sparse.mutable_values()->set_name(name);
    sparse.mutable_values()->set_data_type(pb::TensorProto::FLOAT);
    sparse.mutable_values()->add_dims(0);
    sparse.mutable_indices()->set_data_type(pb::TensorProto::INT64);
    sparse.mutable_indices()->add_dims(0);
  };
  consumeError(forEachGraph(model, [&](pb::GraphProto &graph) -> Error {
    for (pb::SparseTensorProto &sparse : *graph.mutable_sparse_initializer())
      empty(sparse);
    return Error::success();
  }));
  consumeError(forEachNode(model, [&](pb::NodeProto &node) -> Error {
    for (pb::AttributeProto &attr : *node.mutable_attribute()) {
      if (attr.has_sparse_tensor())
        empty(*attr.mutable_sparse_tensor());
      for (pb::SparseTensorProto &sparse : *attr.mutable_sparse_tensors())
        empty(sparse);
    }
    return Error::success();
  }));
}

Error checkModel(pb::ModelProto &model) {
  return guard([&]() -> Error {
    if (Error error = refuseExperimental(model))
      return error;
    if (getOpset(model, "") > newestOpset())
      return makeError("opset " + Twine(getOpset(model, "")) +
                       " is newer than " + Twine(newestOpset()) +
                       ", the newest that is supported");
    pb::ModelProto copy = model;
    replaceSparse(copy);
    // Sizes are checked already. So tensors that are set aside become empty
    // tensors, which need no data.
    if (Error error = forEachTensor(
            copy,
            [](pb::TensorProto &tensor, const pb::NodeProto *) -> Error {
              if (tensor.data_location() != pb::TensorProto::EXTERNAL)
                return Error::success();
              tensor.clear_external_data();
              tensor.clear_data_location();
              tensor.clear_dims();
              tensor.add_dims(0);
              return Error::success();
            }))
      return error;
    // Adds harmless names where models lack them. Many real models do.
    if (Error error = forEachGraph(copy, [](pb::GraphProto &graph) -> Error {
          if (graph.name().empty())
            graph.set_name("graph");
          return Error::success();
        }))
      return error;
    consumeError(forEachNode(copy, [](pb::NodeProto &node) -> Error {
      node.set_name(nodeName(node));
      return Error::success();
    }));
    auto addShapes = [](auto &infos) {
      for (pb::ValueInfoProto &info : infos)
        if (info.type().has_tensor_type())
          info.mutable_type()->mutable_tensor_type()->mutable_shape();
    };
    addShapes(*copy.mutable_graph()->mutable_input());
    addShapes(*copy.mutable_graph()->mutable_output());
    copy.set_ir_version(pb::IR_VERSION);
    pb::checker::check_model(copy, /*full_check=*/false,
                               /*skip_opset_compatibility_check=*/true);
    return Error::success();
  });
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

void inferShapes(pb::ModelProto &model) {
  dropInferredTypes(model);
  consumeError(guard([&]() -> Error {
    pb::shape_inference::DataValueMap data;
    pb::ShapeInferenceOptions inference(/*check_type_val=*/false,
                                          /*strict_mode_val=*/0,
                                          /*data_prop_val=*/true);
    pb::shape_inference::InferShapes(model, &GuardedSchemas::instance(),
                                     inference, &data);
    return Error::success();
  }));
}

} // namespace ingot::importer
