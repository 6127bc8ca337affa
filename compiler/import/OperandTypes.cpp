//===- OperandTypes.cpp - checks of operands ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks operands against the schemas of their operators. ONNX's checker does
// not check types. ONNX's inference reports a wrong operand type only if the
// result type depends on it. All later code relies on the checks here.
//
//===----------------------------------------------------------------------===//
#include "compiler/import/OperandTypes.h"
#include "compiler/import/Message.h"

#include "onnx/defs/data_type_utils.h"
#include "onnx/defs/schema.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

#include <limits>

using namespace llvm;

namespace ingot::importer {
namespace {

using pb::OpSchema;
/// Points to the unique spelling of a type, for example "tensor(float)".
using DataType = const std::string *;

/// Types by name in one graph, and a link to the surrounding graph. A type is
/// null if it is unknown.
struct Scope {
  const Scope *parent = nullptr;
  StringMap<DataType> types;

  DataType lookup(StringRef name) const {
    auto it = types.find(name);
    if (it != types.end())
      return it->second;
    return parent ? parent->lookup(name) : nullptr;
  }
};

DataType toDataType(const pb::TypeProto &type) {
  // ToType throws if a type is incomplete.
  try {
    if (type.has_tensor_type() && type.tensor_type().elem_type() == 0)
      return nullptr;
    return pb::Utils::DataTypeUtils::ToType(type);
  } catch (const std::exception &) {
    return nullptr;
  }
}

class Checker {
public:
  explicit Checker(const pb::ModelProto &model) {
    for (const pb::OperatorSetIdProto &import : model.opset_import())
      opsets[import.domain()] = int(import.version());
  }

  Error checkGraph(const pb::GraphProto &graph, const Scope *parent) {
    Scope scope;
    scope.parent = parent;
    auto addTypes = [&](const auto &infos) {
      for (const pb::ValueInfoProto &info : infos)
        scope.types[info.name()] = toDataType(info.type());
    };
    addTypes(graph.output());
    addTypes(graph.value_info());
    addTypes(graph.input());
    for (const pb::TensorProto &tensor : graph.initializer()) {
      pb::TypeProto type;
      type.mutable_tensor_type()->set_elem_type(tensor.data_type());
      scope.types[tensor.name()] = toDataType(type);
    }
    for (const pb::NodeProto &node : graph.node()) {
      if (Error error = checkNode(node, scope))
        return error;
      for (const pb::AttributeProto &attr : node.attribute()) {
        if (attr.has_g())
          if (Error error = checkGraph(attr.g(), &scope))
            return error;
        for (const pb::GraphProto &inner : attr.graphs())
          if (Error error = checkGraph(inner, &scope))
            return error;
      }
    }
    return Error::success();
  }

private:
  Error checkNode(const pb::NodeProto &node, const Scope &scope) {
    auto opset = opsets.find(node.domain());
    if (opset == opsets.end())
      return Error::success();
    const OpSchema *schema = pb::OpSchemaRegistry::Instance()->GetSchema(
        node.op_type(), opset->second, node.domain());
    if (!schema || schema->inputs().empty())
      return Error::success();
    const auto &parameters = schema->inputs();
    // Maps a type variable to the input that determined it.
    StringMap<int> bound;
    for (int i = 0; i < node.input_size(); ++i) {
      size_t place = std::min(size_t(i), parameters.size() - 1);
      const OpSchema::FormalParameter &parameter = parameters[place];
      DataType type = scope.lookup(node.input(i));
      if (node.input(i).empty() || !type)
        continue;
      if (!parameter.GetTypes().empty() && !parameter.GetTypes().count(type))
        return makeError(describe(node) + ": input " + quote(node.input(i)) +
                         " has type " + *type + ", but " +
                         quote(parameter.GetName()) + " of " + node.op_type() +
                         " must be " + listTypes(parameter.GetTypes()));
      if (!parameter.GetIsHomogeneous() ||
          !schema->typeConstraintMap().count(parameter.GetTypeStr()))
        continue;
      int first = bound.try_emplace(parameter.GetTypeStr(), i).first->second;
      DataType other = scope.lookup(node.input(first));
      if (other != type)
        return makeError(
            describe(node) + ": inputs " + quote(node.input(first)) + " and " +
            quote(node.input(i)) + " must have the same type, but have " +
            *other + " and " + *type);
    }
    return Error::success();
  }

  static std::string listTypes(const pb::DataTypeSet &types) {
    SmallVector<StringRef> names;
    for (DataType type : types)
      names.push_back(*type);
    llvm::sort(names);
    return (names.size() == 1 ? "" : "one of ") + join(names, ", ");
  }

  StringMap<int> opsets;
};

/// Returns "2", "1 to 3" or "at least 2", followed by `noun`.
std::string printCount(int min, int max, StringRef noun) {
  std::string text = max == std::numeric_limits<int>::max()
                         ? "at least " + std::to_string(min)
                     : min == max ? std::to_string(min)
                                  : std::to_string(min) + " to " +
                                        std::to_string(max);
  return text + " " + noun.str() + (min == 1 && max == 1 ? "" : "s");
}

/// Returns true if exporters omit the operand although early operator sets
/// require it. Only one mode of the operator uses it.
bool mayBeAbsent(const pb::NodeProto &node, int i) {
  return node.op_type() == "Resize" && i == 1;
}

Error checkOperands(const pb::NodeProto &node, const OpSchema &schema) {
  auto fail = [&](const Twine &what) {
    return makeError(describe(node) + ": " + what);
  };
  int inputs = node.input_size(), outputs = node.output_size();
  if (inputs < schema.min_input() || inputs > schema.max_input())
    return fail(node.op_type() + " expects " +
                printCount(schema.min_input(), schema.max_input(), "input") +
                ", but got " + Twine(inputs));
  if (outputs < schema.min_output() || outputs > schema.max_output())
    return fail(node.op_type() + " expects " +
                printCount(schema.min_output(), schema.max_output(), "output") +
                ", but got " + Twine(outputs));
  const auto &parameters = schema.inputs();
  for (int i = 0; i < inputs && !parameters.empty(); ++i) {
    const OpSchema::FormalParameter &parameter =
        parameters[std::min(size_t(i), parameters.size() - 1)];
    if (node.input(i).empty() && parameter.GetOption() != OpSchema::Optional &&
        !mayBeAbsent(node, i))
      return fail("input " + quote(parameter.GetName()) + " (number " +
                  Twine(i) + ") is absent, but " + node.op_type() +
                  " needs it");
  }
  return Error::success();
}

} // namespace

Error validateOperands(pb::ModelProto &model) {
  return forEachNode(model, [&](pb::NodeProto &node) -> Error {
    const OpSchema *schema = pb::OpSchemaRegistry::Instance()->GetSchema(
        node.op_type(), int(getOpset(model, node.domain())), node.domain());
    return schema ? checkOperands(node, *schema) : Error::success();
  });
}

Error validateOperandTypes(const pb::ModelProto &model) {
  return Checker(model).checkGraph(model.graph(), nullptr);
}

} // namespace ingot::importer
