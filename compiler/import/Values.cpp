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

#include <cmath>

using namespace llvm;

namespace ingot::importer {
namespace {

/// The name of an element type, and the way to read its elements.
struct Kind {
  int type;
  StringLiteral name;
  unsigned bits;
  enum { integer, natural, boolean, real } form;
};

#define FORM_FLOAT Kind::real
#define FORM_HALF Kind::real
#define FORM_BRAIN Kind::real
#define FORM_TINY Kind::real
#define FORM_SIGNED Kind::integer
#define FORM_UNSIGNED Kind::natural
#define FORM_BOOL Kind::boolean
constexpr Kind kKinds[] = {
#define INGOT_ELEMENT_TYPE(NAME, NUMBER, TEXT, KIND, BYTES, C_TYPE)            \
  {NUMBER, TEXT, 8 * BYTES, FORM_##KIND},
#define INGOT_PACKED_TYPE(NAME, NUMBER, TEXT, KIND, BITS)                      \
  {NUMBER, TEXT, BITS, FORM_##KIND},
#include "runtime/include/ingot/abi/element_types.inc"
};

const fltSemantics &semanticsOf(int type) {
  switch (type) {
  case pb::TensorProto::DOUBLE:
    return APFloat::IEEEdouble();
  case pb::TensorProto::FLOAT16:
    return APFloat::IEEEhalf();
  case pb::TensorProto::BFLOAT16:
    return APFloat::BFloat();
#define INGOT_TINY_FLOAT(NAME, FORMAT, EXPONENT, FRACTION, BIAS, ENDS)         \
  case pb::TensorProto::NAME:                                                  \
    return APFloat::FORMAT();
#include "runtime/include/ingot/abi/element_types.inc"
  default:
    return APFloat::IEEEsingle();
  }
}

/// Returns the bits of a floating-point value, or nullopt if the text is not a
/// number or the number is too large.
std::optional<uint64_t> readReal(StringRef text, const Kind &kind) {
  // Reads small formats through double, which represents all their values. A
  // small format may lack a sign, a zero or infinities, but the text may
  // contain such a value.
  const fltSemantics &semantics = semanticsOf(kind.type);
  APFloat number(kind.bits <= 8 ? APFloat::IEEEdouble() : semantics);
  Expected<APFloat::opStatus> status =
      number.convertFromString(text, APFloat::rmNearestTiesToEven);
  if (!status) {
    consumeError(status.takeError());
    return std::nullopt;
  }
  if (*status & APFloat::opOverflow)
    return std::nullopt;
  if (kind.bits <= 8) {
    bool isLossy;
    double exact = number.convertToDouble();
    number.convert(semantics, APFloat::rmNearestTiesToEven, &isLossy);
    APFloat back = number;
    back.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &isLossy);
    // Accepts values that the format rounds. Refuses values outside of the
    // format's range.
    double most = APFloat::getLargest(semantics).convertToDouble();
    if (std::isnan(exact) != back.isNaN() || std::fabs(exact) > most ||
        std::signbit(exact) > back.isNegative())
      return std::nullopt;
  }
  return number.bitcastToAPInt().getZExtValue();
}

/// Returns the bits of one element, or nullopt if the text has another form.
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
  case Kind::real:
    return readReal(text, kind);
  }
  return std::nullopt;
}

/// Sets the dynamic dimension of `input` so that the shape has `count`
/// elements. The shape may have only one dynamic dimension.
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
    return makeError(option + ": input " + quote(name) + " is not a tensor");
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
  size_t at = 0; // offset in bits
  for (StringRef part : parts) {
    std::optional<uint64_t> bits = readElement(part.trim(), *kind);
    if (!bits)
      return makeError(option + ": " + quote(part) + " is not of type " +
                       kind->name + ", which input " + quote(name) + " takes");
    for (unsigned i = 0; i < kind->bits; ++i, ++at) {
      if (at % 8 == 0)
        data.push_back(0);
      data.back() |= char((*bits >> i & 1) << at % 8);
    }
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
