//===- Validate.cpp - checks that ONNX's checker lacks --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/import/Validate.h"
#include "compiler/import/Message.h"

#include "compiler/import/Types.h"
#include "dialects/onnx/Limits.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace ingot::importer {
namespace {

using pb::TensorProto;

std::string tooLarge(const Model &model) {
  return ("a shape too large: more than " + Twine(model.maxTensorElements) +
          " elements (--limit=tensor-elements)")
      .str();
}

/// Returns the number of values that `tensor` has outside of raw_data, and the
/// number of values that it should have.
std::pair<int64_t, int64_t> countTyped(const TensorProto &tensor,
                                       int64_t elements) {
  switch (tensor.data_type()) {
  case TensorProto::FLOAT:
    return {tensor.float_data_size(), elements};
  case TensorProto::COMPLEX64:
    return {tensor.float_data_size(), 2 * elements};
  case TensorProto::DOUBLE:
    return {tensor.double_data_size(), elements};
  case TensorProto::COMPLEX128:
    return {tensor.double_data_size(), 2 * elements};
  case TensorProto::INT64:
    return {tensor.int64_data_size(), elements};
  case TensorProto::UINT32:
  case TensorProto::UINT64:
    return {tensor.uint64_data_size(), elements};
  case TensorProto::STRING:
    return {tensor.string_data_size(), elements};
  case TensorProto::UINT4:
  case TensorProto::INT4:
  case TensorProto::FLOAT4E2M1:
    return {tensor.int32_data_size(), elements / 2 + elements % 2};
  case TensorProto::UINT2:
  case TensorProto::INT2:
    return {tensor.int32_data_size(), elements / 4 + (elements % 4 != 0)};
  default:
    return {tensor.int32_data_size(), elements};
  }
}

Error validateTensor(const Model &model, const TensorProto &tensor,
                     const pb::NodeProto *node) {
  auto fail = [&](const Twine &what) {
    return makeError(describeTensor(tensor, node) + " " + what);
  };
  bool isString = tensor.data_type() == TensorProto::STRING;
  if (!isString && !elementBitsOf(tensor.data_type()))
    return fail("has an unknown element type, " + Twine(tensor.data_type()));
  if (tensor.has_segment())
    return fail("is stored in segments, which no version of ONNX reads");
  if (tensor.dims_size() > onnx::kMostDimensions)
    return fail("has " + Twine(tensor.dims_size()) + " dimensions, but " +
                Twine(onnx::kMostDimensions) + " is the most");
  for (int64_t dim : tensor.dims())
    if (dim < 0)
      return fail("has a negative dimension, " + Twine(dim));
  std::optional<int64_t> elements = getNumElements(tensor.dims());
  if (!elements || *elements > model.maxTensorElements)
    return fail("has " + tooLarge(model));
  std::optional<int64_t> bytes = getRawBytes(tensor);

  if (isSetAside(tensor)) {
    Expected<const Blob *> blob = model.setAside.find(tensor);
    return blob ? Error::success() : fail(toString(blob.takeError()));
  }
  if (!tensor.raw_data().empty()) {
    int64_t got = int64_t(tensor.raw_data().size());
    if (isString)
      return fail("holds strings as raw data");
    if (got != *bytes)
      return fail("has " + Twine(got) +
                  " bytes of raw data, but its shape and "
                  "type need " +
                  Twine(*bytes));
    return Error::success();
  }
  auto [got, expected] = countTyped(tensor, *elements);
  if (got != expected)
    return fail("has " + Twine(got) + " values, but its shape needs " +
                Twine(expected));
  return Error::success();
}

Error validateType(const Model &model, const pb::ValueInfoProto &info,
                   StringRef what) {
  const pb::TypeProto &type = info.type();
  if (!type.has_tensor_type())
    return Error::success();
  auto fail = [&](const Twine &message) {
    return makeError(what + " " + quote(info.name()) + " has " + message);
  };
  const pb::TypeProto::Tensor &tensor = type.tensor_type();
  if (tensor.elem_type() != TensorProto::STRING &&
      !elementBitsOf(tensor.elem_type()))
    return fail("an unknown element type, " + Twine(tensor.elem_type()));
  if (tensor.shape().dim_size() > onnx::kMostDimensions)
    return fail(Twine(tensor.shape().dim_size()) + " dimensions, but " +
                Twine(onnx::kMostDimensions) + " is the most");
  int64_t elements = 1;
  for (const pb::TensorShapeProto::Dimension &dim : tensor.shape().dim()) {
    // Some exporters write -1 or 0 for a dimension that is not fixed. Keeps a
    // 0, because it is also a valid size.
    if (!dim.has_dim_value() || dim.dim_value() == -1)
      continue;
    if (dim.dim_value() < 0)
      return fail("a negative dimension, " + Twine(dim.dim_value()));
    if (MulOverflow(elements, std::max<int64_t>(dim.dim_value(), 1),
                    elements) ||
        elements > model.maxTensorElements)
      return fail(tooLarge(model));
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Attributes that other code divides by
//===----------------------------------------------------------------------===//

Error checkRange(const pb::NodeProto &node, const pb::AttributeProto &attr,
                 int64_t value, int64_t min, int64_t max) {
  if (value < min)
    return makeError(describe(node) + ": attribute " + quote(attr.name()) +
                     " must be at least " + Twine(min) + ", but is " +
                     Twine(value));
  if (value > max)
    return makeError(describe(node) + ": attribute " + quote(attr.name()) +
                     " must be at most " + Twine(max) + ", but is " +
                     Twine(value));
  return Error::success();
}

Error validateAttribute(const pb::NodeProto &node,
                        const pb::AttributeProto &attr) {
  // Window sizes and counts are positive in all operators.
  int64_t min =
      StringSwitch<int64_t>(attr.name())
          .Cases({"strides", "dilations", "kernel_shape", "group", "blocksize",
                  "num_outputs", "num_heads", "q_num_heads", "kv_num_heads",
                  "num_groups", "num_scan_inputs", "hidden_size"},
                 1)
          // Any value is valid. Other checks prevent overflow.
          .Cases({"pads", "output_padding", "output_shape", "axis", "axes",
                  "perm", "split", "starts", "ends", "steps", "shape",
                  "block_size", "to"},
                 INT64_MIN)
          .Default(0);
  if (min == 0)
    return Error::success();
  constexpr int64_t kMax = INT32_MAX;
  bool isIndex = attr.name() == "starts" || attr.name() == "ends" ||
                 attr.name() == "steps";
  int64_t low = min == 1 ? 1 : (isIndex ? INT64_MIN : -kMax);
  int64_t high = isIndex ? INT64_MAX : kMax;
  if (attr.type() == pb::AttributeProto::INT)
    return checkRange(node, attr, attr.i(), low, high);
  if (attr.type() == pb::AttributeProto::INTS)
    for (int64_t value : attr.ints())
      if (Error error = checkRange(node, attr, value, low, high))
        return error;
  return Error::success();
}

} // namespace

Error validateNodes(pb::ModelProto &model) {
  return forEachNode(model, [](pb::NodeProto &node) -> Error {
    // Operators of other domains may give these names another meaning.
    if (!node.domain().empty())
      return Error::success();
    for (const pb::AttributeProto &attr : node.attribute())
      if (Error error = validateAttribute(node, attr))
        return error;
    return Error::success();
  });
}

Error validateTensors(Model &model) {
  return forEachTensor(model.proto,
                       [&](TensorProto &tensor, const pb::NodeProto *node) {
                         return validateTensor(model, tensor, node);
                       });
}

Error validateTypes(Model &model) {
  return forEachGraph(model.proto, [&](pb::GraphProto &graph) -> Error {
    for (const pb::ValueInfoProto &info : graph.input())
      if (Error error = validateType(model, info, "input"))
        return error;
    for (const pb::ValueInfoProto &info : graph.output())
      if (Error error = validateType(model, info, "output"))
        return error;
    return Error::success();
  });
}

Error validateModel(Model &model, const ImportOptions &options) {
  pb::ModelProto &proto = model.proto;
  if (proto.ir_version() < 3)
    return makeError("IR version " + Twine(proto.ir_version()) +
                     " is older than 3, the oldest that is supported");
  if (proto.ir_version() > pb::IR_VERSION)
    return makeError("IR version " + Twine(proto.ir_version()) +
                     " is newer than " + Twine(int64_t(pb::IR_VERSION)) +
                     ", the newest that is supported");
  int64_t nodes = 0;
  if (Error error = forEachNode(proto, [&](pb::NodeProto &) -> Error {
        if (++nodes > options.maxNodes)
          return makeError("the model has more than " +
                           Twine(options.maxNodes) + " nodes (--limit=nodes)");
        return Error::success();
      }))
    return error;
  model.maxTensorElements = options.maxTensorElements;
  if (Error error = validateTypes(model))
    return error;
  if (Error error = validateTensors(model))
    return error;
  return validateNodes(proto);
}

} // namespace ingot::importer
