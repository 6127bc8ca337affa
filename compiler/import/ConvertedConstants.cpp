//===- ConvertedConstants.cpp - constants of the converter ----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/import/ConvertedConstants.h"

#include "onnx/defs/schema.h"

#include "llvm/ADT/APFloat.h"

#include <cstring>

using namespace llvm;

namespace ingot::importer {

using pb::TensorProto;

ElementTypes collectElementTypes(pb::ModelProto &model) {
  ElementTypes types;
  auto add = [&](const std::string &name, int type) {
    auto [it, isNew] = types.try_emplace(name, type);
    if (!isNew && it->second != type)
      it->second = TensorProto::UNDEFINED;
  };
  auto addAll = [&](const auto &infos) {
    for (const pb::ValueInfoProto &info : infos)
      add(info.name(), info.type().tensor_type().elem_type());
  };
  consumeError(forEachGraph(model, [&](pb::GraphProto &graph) -> Error {
    addAll(graph.input());
    addAll(graph.value_info());
    addAll(graph.output());
    for (const TensorProto &tensor : graph.initializer())
      add(tensor.name(), tensor.data_type());
    return Error::success();
  }));
  return types;
}

/// Returns the value of a tensor that holds one float32.
static std::optional<float> readFloat(const TensorProto &tensor) {
  if (tensor.float_data_size() == 1)
    return tensor.float_data(0);
  float value;
  if (tensor.raw_data().size() != sizeof(value))
    return std::nullopt;
  std::memcpy(&value, tensor.raw_data().data(), sizeof(value));
  return value;
}

static const fltSemantics *semanticsOf(int type) {
  switch (type) {
  case TensorProto::FLOAT16:
    return &APFloat::IEEEhalf();
  case TensorProto::BFLOAT16:
    return &APFloat::BFloat();
  case TensorProto::DOUBLE:
    return &APFloat::IEEEdouble();
  default:
    return nullptr;
  }
}

/// Converts a tensor of one float32 to the element type `type`.
static void retype(TensorProto &tensor, int type) {
  const fltSemantics *semantics = semanticsOf(type);
  std::optional<float> number = readFloat(tensor);
  if (!semantics || !number)
    return;
  APFloat value(*number);
  bool losesInfo;
  value.convert(*semantics, APFloat::rmNearestTiesToEven, &losesInfo);
  uint64_t bits = value.bitcastToAPInt().getZExtValue();
  tensor.clear_float_data();
  tensor.set_data_type(type);
  tensor.set_raw_data(&bits, APFloat::getSizeInBits(*semantics) / 8);
}

/// Converts the constants among the inputs of `node` to the type of the node's
/// first input, if the operator requires equal types. `made` holds the
/// constants that the converter has made.
static void retypeInputs(const pb::NodeProto &node, int opset,
                         const StringMap<TensorProto *> &made, int type) {
  const pb::OpSchema *schema = pb::OpSchemaRegistry::Instance()->GetSchema(
      node.op_type(), opset, node.domain());
  if (!schema)
    return;
  const auto &parameters = schema->inputs();
  size_t inputs = std::min(size_t(node.input_size()), parameters.size());
  for (size_t i = 1; i < inputs; ++i)
    if (TensorProto *tensor = made.lookup(node.input(int(i))))
      if (parameters[i].GetTypeStr() == parameters[0].GetTypeStr())
        retype(*tensor, type);
}

void retypeConstants(pb::ModelProto &converted, const ElementTypes &types) {
  int opset = int(getOpset(converted, ""));
  consumeError(forEachGraph(converted, [&](pb::GraphProto &graph) -> Error {
    // The converter puts a constant before the node that uses it. In another
    // graph it may use that constant's name again.
    StringMap<TensorProto *> made;
    for (pb::NodeProto &node : *graph.mutable_node())
      if (node.op_type() != "Constant") {
        if (!made.empty() && node.input_size() > 1)
          retypeInputs(node, opset, made, types.lookup(node.input(0)));
      } else if (node.domain().empty() && node.output_size() == 1 &&
                 !types.contains(node.output(0))) {
        for (pb::AttributeProto &attr : *node.mutable_attribute())
          if (attr.has_t() && attr.t().data_type() == TensorProto::FLOAT)
            made[node.output(0)] = attr.mutable_t();
      }
    return Error::success();
  }));
}

} // namespace ingot::importer
