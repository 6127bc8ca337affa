//===- Normalize.cpp - one form for what ONNX writes in several ----------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/import/Normalize.h"

#include "compiler/import/Skeleton.h"
#include "compiler/import/TensorData.h"
#include "compiler/import/Types.h"

#include "llvm/ADT/StringMap.h"

#include <cstring>

using namespace llvm;

namespace ingot::importer {

using pb::TensorProto;

//===----------------------------------------------------------------------===//
// Domains
//===----------------------------------------------------------------------===//

template <typename Imports> static void normalizeImports(Imports &imports) {
  for (pb::OperatorSetIdProto &import : imports)
    if (import.domain() == "ai.onnx")
      import.clear_domain();
}

void normalizeDomains(pb::ModelProto &model) {
  normalizeImports(*model.mutable_opset_import());
  for (pb::FunctionProto &function : *model.mutable_functions())
    normalizeImports(*function.mutable_opset_import());
  consumeError(forEachNode(model, [](pb::NodeProto &node) -> Error {
    if (node.domain() == "ai.onnx")
      node.clear_domain();
    return Error::success();
  }));
}

//===----------------------------------------------------------------------===//
// Sparse tensors
//===----------------------------------------------------------------------===//

namespace {

/// Element offsets of the values of a sparse tensor. ONNX's checker has made
/// sure that they are in bounds, given dimensions that do not overflow.
Expected<std::vector<int64_t>>
readIndices(const Model &model, const pb::SparseTensorProto &sparse,
            int64_t elements) {
  Expected<TensorBytes> bytes = readTensor(model, sparse.indices());
  if (!bytes)
    return bytes.takeError();
  int64_t values = sparse.values().dims(0);
  int64_t rank = sparse.dims_size();
  bool isLinear = sparse.indices().dims_size() == 1;
  if (int64_t(bytes->get().size()) != values * (isLinear ? 1 : rank) * 8)
    return makeError("sparse tensor '" + sparse.values().name() +
                     "' has a wrong number of indices");
  auto index = [&](int64_t i) {
    int64_t value;
    std::memcpy(&value, bytes->get().data() + i * 8, 8);
    return value;
  };
  std::vector<int64_t> result;
  for (int64_t i = 0; i < values; ++i) {
    int64_t offset = 0;
    if (isLinear)
      offset = index(i);
    else
      for (int64_t d = 0; d < rank; ++d) {
        int64_t at = index(i * rank + d);
        if (at < 0 || at >= sparse.dims(int(d)))
          offset = -1;
        if (offset >= 0)
          offset = offset * sparse.dims(int(d)) + at;
      }
    if (offset < 0 || offset >= elements)
      return makeError("sparse tensor '" + sparse.values().name() +
                       "' has an index out of bounds");
    result.push_back(offset);
  }
  return result;
}

/// Writes `sparse` out as a dense tensor of the same name.
Error makeDense(Model &model, const pb::SparseTensorProto &sparse,
                TensorProto &dense, const ImportOptions &options) {
  const TensorProto &values = sparse.values();
  int64_t bits = getElementBits(values.data_type());
  std::optional<int64_t> elements = getNumElements(sparse.dims());
  if (bits < 8)
    return makeError("sparse tensor '" + values.name() + "' of type " +
                     getElementName(values.data_type()) +
                     " is not supported");
  int64_t width = bits / 8;
  if (!elements || *elements > options.maxExpandedBytes / width)
    return makeError("sparse tensor '" + values.name() +
                     "' is too large to be written out: more than " +
                     Twine(options.maxExpandedBytes) + " bytes");
  Expected<TensorBytes> bytes = readTensor(model, values);
  if (!bytes)
    return bytes.takeError();
  if (values.dims_size() != 1 ||
      int64_t(bytes->get().size()) != values.dims(0) * width)
    return makeError("sparse tensor '" + values.name() +
                     "' has a wrong number of values");
  std::vector<int64_t> offsets;
  if (values.dims(0) != 0) {
    Expected<std::vector<int64_t>> read = readIndices(model, sparse, *elements);
    if (!read)
      return read.takeError();
    offsets = std::move(*read);
  }
  std::string raw(size_t(*elements * width), '\0');
  for (auto [i, offset] : llvm::enumerate(offsets))
    std::memcpy(raw.data() + offset * width,
                bytes->get().data() + int64_t(i) * width, size_t(width));
  dense.set_name(values.name());
  dense.set_data_type(values.data_type());
  *dense.mutable_dims() = sparse.dims();
  dense.set_raw_data(std::move(raw));
  return Error::success();
}

Error makeGraphDense(Model &model, pb::GraphProto &graph,
                     const ImportOptions &options) {
  for (const pb::SparseTensorProto &sparse : graph.sparse_initializer())
    if (Error error =
            makeDense(model, sparse, *graph.add_initializer(), options))
      return error;
  graph.clear_sparse_initializer();
  return Error::success();
}

Error makeNodeDense(Model &model, pb::NodeProto &node,
                    const ImportOptions &options) {
  for (pb::AttributeProto &attr : *node.mutable_attribute()) {
    if (!attr.has_sparse_tensor())
      continue;
    pb::SparseTensorProto sparse;
    sparse.Swap(attr.mutable_sparse_tensor());
    attr.clear_sparse_tensor();
    if (attr.name() == "sparse_value")
      attr.set_name("value");
    attr.set_type(pb::AttributeProto::TENSOR);
    if (Error error = makeDense(model, sparse, *attr.mutable_t(), options))
      return makeError(describe(node) + ": " + toString(std::move(error)));
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Initializers and inputs
//===----------------------------------------------------------------------===//

/// Up to IR version 3 all initializers were inputs, too, and later ones may be,
/// as defaults that a caller can override. Here they are constants.
Error dropShadowedInputs(pb::GraphProto &graph) {
  StringMap<const TensorProto *> initializers;
  for (const TensorProto &tensor : graph.initializer())
    initializers[tensor.name()] = &tensor;
  auto *inputs = graph.mutable_input();
  for (auto it = inputs->begin(); it != inputs->end();) {
    const TensorProto *tensor = initializers.lookup(it->name());
    if (!tensor) {
      ++it;
      continue;
    }
    const pb::TypeProto::Tensor &type = it->type().tensor_type();
    if (type.elem_type() != 0 && type.elem_type() != tensor->data_type())
      return makeError("initializer '" + tensor->name() + "' has type " +
                       getElementName(tensor->data_type()) +
                       ", but the input of that name has type " +
                       getElementName(type.elem_type()));
    if (type.has_shape() && type.shape().dim_size() != tensor->dims_size())
      return makeError("initializer '" + tensor->name() + "' has rank " +
                       Twine(tensor->dims_size()) +
                       ", but the input of that name has rank " +
                       Twine(type.shape().dim_size()));
    it = inputs->erase(it);
  }
  return Error::success();
}

/// ONNX's inliner does not bind the default values of a function's attributes.
void bindDefaults(pb::ModelProto &model) {
  StringMap<const pb::FunctionProto *> functions;
  auto key = [](const std::string &domain, const std::string &name,
                const std::string &overload) {
    return domain + '\0' + name + '\0' + overload;
  };
  for (const pb::FunctionProto &function : model.functions())
    functions[key(function.domain(), function.name(), function.overload())] =
        &function;
  consumeError(forEachNode(model, [&](pb::NodeProto &node) -> Error {
    const pb::FunctionProto *function =
        functions.lookup(key(node.domain(), node.op_type(), node.overload()));
    if (!function)
      return Error::success();
    for (const pb::AttributeProto &value : function->attribute_proto())
      if (llvm::none_of(node.attribute(), [&](const auto &attr) {
            return attr.name() == value.name();
          }))
        *node.add_attribute() = value;
    return Error::success();
  }));
}

} // namespace

//===----------------------------------------------------------------------===//
// All of it
//===----------------------------------------------------------------------===//

void dropInferredTypes(pb::ModelProto &model) {
  consumeError(forEachGraph(model, [&](pb::GraphProto &graph) -> Error {
    graph.clear_value_info();
    for (pb::ValueInfoProto &output : *graph.mutable_output())
      if (output.type().has_tensor_type())
        output.mutable_type()->mutable_tensor_type()->clear_shape();
    return Error::success();
  }));
  for (pb::FunctionProto &function : *model.mutable_functions())
    function.clear_value_info();
}

Error normalizeModel(Model &model, const ImportOptions &options) {
  pb::ModelProto &proto = model.proto;
  if (Error error = forEachNode(proto, [&](pb::NodeProto &node) {
        return makeNodeDense(model, node, options);
      }))
    return error;
  if (Error error = forEachGraph(proto, [&](pb::GraphProto &graph) -> Error {
        if (Error error = makeGraphDense(model, graph, options))
          return error;
        return dropShadowedInputs(graph);
      }))
    return error;
  bindDefaults(proto);
  dropInferredTypes(proto);
  proto.set_ir_version(pb::IR_VERSION);
  return forEachTensor(
      proto, [&](TensorProto &tensor, const pb::NodeProto *) -> Error {
        std::optional<int64_t> bytes = getRawBytes(tensor);
        if (getBlobNumber(tensor) || !bytes ||
            *bytes <= int64_t(kMaxInlineIntBytes))
          return Error::success();
        Expected<TensorBytes> data = readTensor(model, tensor);
        if (!data)
          return data.takeError();
        setBlob(model, tensor, data->takeBlob());
        return Error::success();
      });
}

} // namespace ingot::importer
