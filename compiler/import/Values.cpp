//===- Values.cpp - inputs that the user fixes ---------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/import/Message.h"
#include "compiler/import/Shapes.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace ingot::importer {
namespace {

/// What an element type is called, and how its elements are written.
struct Kind {
  int type;
  StringLiteral name;
  unsigned bits;
  enum { integer, natural, boolean, real } form;
};

constexpr Kind kKinds[] = {
    {pb::TensorProto::FLOAT, "float", 32, Kind::real},
    {pb::TensorProto::DOUBLE, "double", 64, Kind::real},
    {pb::TensorProto::FLOAT16, "float16", 16, Kind::real},
    {pb::TensorProto::BFLOAT16, "bfloat16", 16, Kind::real},
    {pb::TensorProto::BOOL, "bool", 8, Kind::boolean},
    {pb::TensorProto::INT8, "int8", 8, Kind::integer},
    {pb::TensorProto::INT16, "int16", 16, Kind::integer},
    {pb::TensorProto::INT32, "int32", 32, Kind::integer},
    {pb::TensorProto::INT64, "int64", 64, Kind::integer},
    {pb::TensorProto::UINT8, "uint8", 8, Kind::natural},
    {pb::TensorProto::UINT16, "uint16", 16, Kind::natural},
    {pb::TensorProto::UINT32, "uint32", 32, Kind::natural},
    {pb::TensorProto::UINT64, "uint64", 64, Kind::natural}};

/// The bits of one element; nullopt if the text is none of that kind.
std::optional<uint64_t> readElement(StringRef text, const Kind &kind) {
  switch (kind.form) {
  case Kind::boolean:
    if (text == "true" || text == "1")
      return 1;
    if (text == "false" || text == "0")
      return 0;
    return std::nullopt;
  case Kind::integer: {
    int64_t number;
    if (!to_integer(text, number, 10) || !isIntN(kind.bits, number))
      return std::nullopt;
    return uint64_t(number);
  }
  case Kind::natural: {
    uint64_t number;
    if (!to_integer(text, number, 10) || !isUIntN(kind.bits, number))
      return std::nullopt;
    return number;
  }
  case Kind::real: {
    const fltSemantics &semantics =
        kind.bits == 64   ? APFloat::IEEEdouble()
        : kind.bits == 32 ? APFloat::IEEEsingle()
        : kind.type == pb::TensorProto::FLOAT16 ? APFloat::IEEEhalf()
                                                : APFloat::BFloat();
    APFloat number(semantics);
    Expected<APFloat::opStatus> status =
        number.convertFromString(text, APFloat::rmNearestTiesToEven);
    if (!status) {
      consumeError(status.takeError());
      return std::nullopt;
    }
    if (*status & APFloat::opOverflow)
      return std::nullopt;
    return number.bitcastToAPInt().getZExtValue();
  }
  }
  return std::nullopt;
}

/// As many as there are numbers, if the shape leaves one dimension open.
Error fixShape(pb::GraphProto &graph, pb::ValueInfoProto &input,
               int64_t count, const Twine &option) {
  auto &shape =
      *input.mutable_type()->mutable_tensor_type()->mutable_shape();
  pb::TensorShapeProto::Dimension *open = nullptr;
  int64_t known = 1;
  for (auto &dim : *shape.mutable_dim()) {
    if (dim.has_dim_value()) {
      if (MulOverflow(known, dim.dim_value(), known))
        known = 0;
    } else if (open) {
      return makeError(option + ": input " + quote(input.name()) +
                       " has several open dimensions; fix them with --shape");
    } else {
      open = &dim;
    }
  }
  if (open ? known <= 0 || count % known != 0 : count != known)
    return makeError(option + " has " + Twine(count) +
                     (count == 1 ? " element" : " elements") + ", but input " +
                     quote(input.name()) + " takes " +
                     (open ? "a multiple of " : "") + Twine(known));
  if (!open)
    return Error::success();
  std::string name = open->dim_param();
  open->set_dim_value(count / known);
  if (name.empty())
    return Error::success();
  for (pb::ValueInfoProto &other : *graph.mutable_input())
    if (other.type().has_tensor_type())
      for (auto &dim : *other.mutable_type()
                            ->mutable_tensor_type()
                            ->mutable_shape()
                            ->mutable_dim())
        if (dim.dim_param() == name)
          dim.set_dim_value(count / known);
  return Error::success();
}

Error applyValue(pb::GraphProto &graph, StringRef name, StringRef text) {
  std::string option = ("--value " + name + "=" + text).str();
  auto input = llvm::find_if(
      *graph.mutable_input(),
      [&](const pb::ValueInfoProto &each) { return each.name() == name; });
  if (input == graph.mutable_input()->end())
    return makeError("the model has no input named " + quote(name) + "; " +
                     listInputs(graph));
  if (!input->type().has_tensor_type())
    return makeError(option + ": input " + quote(name) + " is no tensor");
  int type = input->type().tensor_type().elem_type();
  const Kind *kind = llvm::find_if(
      kKinds, [&](const Kind &each) { return each.type == type; });
  if (kind == std::end(kKinds))
    return makeError(option + ": input " + quote(name) +
                     " has an element type that no value can be given for");
  if (text.starts_with("[") && text.ends_with("]"))
    text = text.drop_front().drop_back();
  SmallVector<StringRef> parts;
  if (!text.empty())
    text.split(parts, ',');
  pb::TensorProto tensor;
  std::string data;
  for (StringRef part : parts) {
    std::optional<uint64_t> bits = readElement(part.trim(), *kind);
    if (!bits)
      return makeError(option + ": " + quote(part) + " is no " + kind->name +
                       ", which input " + quote(name) + " takes");
    for (unsigned i = 0; i < kind->bits; i += 8)
      data.push_back(char(*bits >> i));
  }
  if (Error error = fixShape(graph, *input, parts.size(), option))
    return error;
  tensor.set_name(name.str());
  tensor.set_data_type(type);
  for (const auto &dim : input->type().tensor_type().shape().dim())
    tensor.add_dims(dim.dim_value());
  tensor.set_raw_data(std::move(data));
  *graph.add_initializer() = std::move(tensor);
  graph.mutable_input()->erase(input);
  return Error::success();
}

} // namespace

Error applyValues(pb::ModelProto &model, const ImportOptions &options) {
  std::vector<StringRef> names(options.values.keys().begin(),
                               options.values.keys().end());
  llvm::sort(names);
  for (StringRef name : names)
    if (Error error = applyValue(*model.mutable_graph(), name,
                                 options.values.find(name)->second))
      return error;
  return Error::success();
}

} // namespace ingot::importer
