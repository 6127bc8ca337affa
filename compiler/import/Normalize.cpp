//===- Normalize.cpp - one form for equivalent models ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/import/Normalize.h"
#include "compiler/import/Message.h"

#include "compiler/import/TensorData.h"
#include "compiler/import/Types.h"
#include "compiler/import/Validate.h"

#include "llvm/ADT/StringMap.h"

#include <cstring>

using namespace llvm;

namespace ingot::importer {

using pb::TensorProto;

//===----------------------------------------------------------------------===//
// Domains
//===----------------------------------------------------------------------===//

/// Removes repeated imports of a domain. As in ONNX Runtime, the last import is
/// used.
template <typename Imports>
static void normalizeImports(Imports &imports) {
  StringMap<int> places;
  int kept = 0;
  for (int i = 0, e = imports.size(); i < e; ++i) {
    pb::OperatorSetIdProto import = imports[i];
    if (import.domain() == "ai.onnx")
      import.clear_domain();
    auto [place, isNew] = places.try_emplace(import.domain(), kept);
    kept += isNew;
    imports[place->second] = import;
  }
  imports.DeleteSubrange(kept, imports.size() - kept);
}

static constexpr char kMicrosoftDomain[] = "com.microsoft";

/// Returns true if ONNX Runtime's optimizer added the operator under ONNX's own
/// domain, although this opset of ONNX does not define it.
static bool isOfOnnxRuntime(const pb::NodeProto &node, int64_t opset) {
  if (!node.domain().empty())
    return false;
  return node.op_type() == "SimplifiedLayerNormalization" ||
         (node.op_type() == "LayerNormalization" && opset < 17);
}

template <typename Imports> static void addMicrosoft(Imports &imports) {
  for (const pb::OperatorSetIdProto &import : imports)
    if (import.domain() == kMicrosoftDomain)
      return;
  pb::OperatorSetIdProto &import = *imports.Add();
  import.set_domain(kMicrosoftDomain);
  import.set_version(1);
}

void normalizeDomains(pb::ModelProto &model) {
  normalizeImports(*model.mutable_opset_import());
  for (pb::FunctionProto &function : *model.mutable_functions())
    normalizeImports(*function.mutable_opset_import());
  int64_t opset = getOpset(model, "");
  bool isMoved = false;
  consumeError(forEachNode(model, [&](pb::NodeProto &node) -> Error {
    if (node.domain() == "ai.onnx")
      node.clear_domain();
    if (isOfOnnxRuntime(node, opset)) {
      node.set_domain(kMicrosoftDomain);
      isMoved = true;
    }
    return Error::success();
  }));
  if (!isMoved)
    return;
  addMicrosoft(*model.mutable_opset_import());
  for (pb::FunctionProto &function : *model.mutable_functions())
    addMicrosoft(*function.mutable_opset_import());
}

void dropAbsentHeads(pb::ModelProto &model) {
  consumeError(forEachNode(model, [&](pb::NodeProto &node) -> Error {
    if (!node.domain().empty() ||
        (node.op_type() != "Attention" && node.op_type() != "RotaryEmbedding"))
      return Error::success();
    auto *attributes = node.mutable_attribute();
    for (int i = attributes->size(); i-- > 0;) {
      const pb::AttributeProto &attr = (*attributes)[i];
      if (StringRef(attr.name()).ends_with("num_heads") &&
          attr.type() == pb::AttributeProto::INT && attr.i() == 0 &&
          attr.ref_attr_name().empty())
        attributes->DeleteSubrange(i, 1);
    }
    return Error::success();
  }));
}

//===----------------------------------------------------------------------===//
// Sparse tensors
//===----------------------------------------------------------------------===//

namespace {

/// Makes sparse tensors dense, up to a limit on their total size.
class Densifier {
public:
  Densifier(Model &model, const ImportOptions &options)
      : model(model), options(options), left(options.maxSparseBytes) {}

  Error run(pb::GraphProto &graph);
  Error run(pb::NodeProto &node);

private:
  Expected<std::vector<int64_t>>
  readOffsets(const pb::SparseTensorProto &sparse);
  Error makeDense(const pb::SparseTensorProto &sparse, TensorProto &dense);

  Model &model;
  const ImportOptions &options;
  int64_t left;
};

} // namespace

/// Returns the element offsets of the values. Checks that the offsets are in
/// bounds and ascending.
Expected<std::vector<int64_t>>
Densifier::readOffsets(const pb::SparseTensorProto &sparse) {
  const TensorProto &indices = sparse.indices();
  int64_t values = sparse.values().dims(0), rank = sparse.dims_size();
  bool isLinear = indices.dims_size() == 1;
  if (values == 0)
    return std::vector<int64_t>();
  if (indices.data_type() != TensorProto::INT64)
    return makeError("its indices must be of type int64, but are " +
                     getElementName(indices.data_type()));
  if (indices.dims_size() < 1 || indices.dims_size() > 2 ||
      indices.dims(0) != values || (!isLinear && indices.dims(1) != rank))
    return makeError("its indices must have shape [" + Twine(values) +
                     "] or [" + Twine(values) + ", " + Twine(rank) + "]");
  Expected<TensorView> bytes = readTensor(model, indices);
  if (!bytes)
    return bytes.takeError();
  std::vector<int64_t> offsets;
  offsets.reserve(size_t(values));
  const char *next = bytes->get().data();
  for (int64_t i = 0; i < values; ++i) {
    int64_t offset = 0;
    for (int64_t d = 0; d < (isLinear ? 1 : rank); ++d, next += 8) {
      int64_t at, size = isLinear ? *getNumElements(sparse.dims())
                                  : sparse.dims(int(d));
      std::memcpy(&at, next, 8);
      if (at < 0 || at >= size)
        return makeError("its index " + Twine(at) + " is out of range: [0, " +
                         Twine(size) + ")");
      offset = offset * size + at;
    }
    if (!offsets.empty() && offset <= offsets.back())
      return makeError("its indices are not sorted, or one occurs twice");
    offsets.push_back(offset);
  }
  return offsets;
}

/// Writes `sparse` as a dense tensor of the same name.
Error Densifier::makeDense(const pb::SparseTensorProto &sparse,
                           TensorProto &dense) {
  const TensorProto &values = sparse.values();
  auto fail = [&](const Twine &what) {
    return makeError("sparse tensor " + quote(values.name()) + ": " + what);
  };
  int64_t bits = elementBitsOf(values.data_type());
  if (bits < 8)
    return fail("type " + getElementName(values.data_type()) +
                " is not supported");
  if (values.dims_size() != 1)
    return fail("its values must have rank 1, but have rank " +
                Twine(values.dims_size()));
  if (sparse.dims().empty())
    return fail("it has no dimensions");
  for (int64_t dim : sparse.dims())
    if (dim <= 0)
      return fail("its dimensions must be positive, but one is " + Twine(dim));
  std::optional<int64_t> elements = getNumElements(sparse.dims());
  int64_t width = bits / 8;
  if (!elements || *elements > left / width)
    return fail("too large: written out, the sparse tensors of the model have "
                "more than " +
                Twine(options.maxSparseBytes) +
                " bytes (--limit=sparse-bytes)");
  left -= *elements * width;
  Expected<TensorView> bytes = readTensor(model, values);
  if (!bytes)
    return bytes.takeError();
  Expected<std::vector<int64_t>> offsets = readOffsets(sparse);
  if (!offsets)
    return fail(toString(offsets.takeError()));
  std::string raw(size_t(*elements * width), '\0');
  for (auto [i, offset] : llvm::enumerate(*offsets))
    std::memcpy(raw.data() + offset * width,
                bytes->get().data() + int64_t(i) * width, size_t(width));
  dense.set_name(values.name());
  dense.set_data_type(values.data_type());
  *dense.mutable_dims() = sparse.dims();
  dense.set_raw_data(std::move(raw));
  return makeUniform(model, dense);
}

Error Densifier::run(pb::GraphProto &graph) {
  for (const pb::SparseTensorProto &sparse : graph.sparse_initializer())
    if (Error error = makeDense(sparse, *graph.add_initializer()))
      return error;
  graph.clear_sparse_initializer();
  return Error::success();
}

Error Densifier::run(pb::NodeProto &node) {
  for (pb::AttributeProto &attr : *node.mutable_attribute()) {
    if (!attr.has_sparse_tensor())
      continue;
    pb::SparseTensorProto sparse;
    sparse.Swap(attr.mutable_sparse_tensor());
    attr.clear_sparse_tensor();
    if (attr.name() == "sparse_value")
      attr.set_name("value");
    attr.set_type(pb::AttributeProto::TENSOR);
    if (Error error = makeDense(sparse, *attr.mutable_t()))
      return makeError(describe(node) + ": " + toString(std::move(error)));
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

namespace {

/// Moves the value of a Constant from another attribute into a tensor, which is
/// set aside if it is large. Skips an attribute that refers to a function's
/// attribute, because its value is known only after expansion.
void makeTensorOfNumbers(pb::NodeProto &node) {
  if (!node.domain().empty() || node.op_type() != "Constant" ||
      node.attribute_size() != 1)
    return;
  pb::AttributeProto &attr = *node.mutable_attribute(0);
  if (!attr.ref_attr_name().empty())
    return;
  TensorProto tensor;
  if (attr.name() == "value_floats" || attr.name() == "value_float") {
    tensor.set_data_type(TensorProto::FLOAT);
    tensor.mutable_float_data()->Swap(attr.mutable_floats());
    if (attr.name() == "value_float")
      tensor.add_float_data(attr.f());
    else
      tensor.add_dims(tensor.float_data_size());
  } else if (attr.name() == "value_ints" || attr.name() == "value_int") {
    tensor.set_data_type(TensorProto::INT64);
    tensor.mutable_int64_data()->Swap(attr.mutable_ints());
    if (attr.name() == "value_int")
      tensor.add_int64_data(attr.i());
    else
      tensor.add_dims(tensor.int64_data_size());
  } else {
    return;
  }
  attr.Clear();
  attr.set_name("value");
  attr.set_type(pb::AttributeProto::TENSOR);
  attr.mutable_t()->Swap(&tensor);
}

//===----------------------------------------------------------------------===//
// Initializers and inputs
//===----------------------------------------------------------------------===//

/// Removes initializers from the inputs, because the compiler treats
/// initializers as constants. Up to IR version 3 all initializers had to be
/// inputs. In later versions such an initializer is a default value that a
/// caller can override.
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
      return makeError("initializer " + quote(tensor->name()) + " has type " +
                       getElementName(tensor->data_type()) +
                       ", but the input of that name has type " +
                       getElementName(type.elem_type()));
    if (type.has_shape() && type.shape().dim_size() != tensor->dims_size())
      return makeError("initializer " + quote(tensor->name()) + " has rank " +
                       Twine(tensor->dims_size()) +
                       ", but the input of that name has rank " +
                       Twine(type.shape().dim_size()));
    it = inputs->erase(it);
  }
  return Error::success();
}

/// Adds the default values of a function's attributes to calls that omit them.
/// ONNX's inliner does not do this.
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
// The whole normalization
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

Error makeTensorsUniform(Model &model) {
  consumeError(forEachNode(model.proto, [](pb::NodeProto &node) -> Error {
    makeTensorOfNumbers(node);
    return Error::success();
  }));
  if (Error error = forEachTensor(
          model.proto, [&](TensorProto &tensor, const pb::NodeProto *) {
            return makeUniform(model, tensor);
          }))
    return error;
  return validateTensors(model);
}

Error normalizeModel(Model &model, const ImportOptions &options) {
  pb::ModelProto &proto = model.proto;
  Densifier densifier(model, options);
  if (Error error = forEachNode(
          proto, [&](pb::NodeProto &node) { return densifier.run(node); }))
    return error;
  if (Error error = forEachGraph(proto, [&](pb::GraphProto &graph) -> Error {
        if (Error error = densifier.run(graph))
          return error;
        return dropShadowedInputs(graph);
      }))
    return error;
  bindDefaults(proto);
  for (const pb::ValueInfoProto &info : proto.graph().value_info())
    model.statedTypes[info.name()] = info.type();
  dropInferredTypes(proto);
  proto.set_ir_version(pb::IR_VERSION);
  return makeTensorsUniform(model);
}

} // namespace ingot::importer
