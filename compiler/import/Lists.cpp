//===- Lists.cpp - inputs that are sequences or optionals -----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns sequence and optional inputs into tensors, because the inputs of an
// artifact must be tensors. A sequence of known length becomes one input per
// element, and a SequenceConstruct. An optional input is taken as present
// unless an option says that it is absent.
//
//===----------------------------------------------------------------------===//
#include "compiler/import/Message.h"
#include "compiler/import/Shapes.h"

#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace ingot::importer {
namespace {

/// Limit on the length of a sequence. Each element becomes an input, and a
/// function with more inputs would be useless.
constexpr int64_t kMostElements = 1000;

class Lists {
public:
  Lists(pb::GraphProto &graph, const ImportOptions &options)
      : graph(graph), options(options) {
    for (const pb::ValueInfoProto &input : graph.input())
      names.insert(input.name());
    for (const pb::TensorProto &tensor : graph.initializer())
      names.insert(tensor.name());
    for (const pb::NodeProto &node : graph.node())
      for (const std::string &output : node.output())
        names.insert(output);
  }

  Error run();

private:
  Error checkNames() const;
  Error addAny(const pb::ValueInfoProto &input);
  Error addOptional(const pb::ValueInfoProto &input);
  Error addSequence(const pb::ValueInfoProto &input,
                    const pb::TypeProto &element);
  void addInput(StringRef name, const pb::TypeProto &type);
  pb::NodeProto &addNode(StringRef opType, StringRef output);

  pb::GraphProto &graph;
  const ImportOptions &options;
  StringSet<> names;
  google::protobuf::RepeatedPtrField<pb::ValueInfoProto> inputs;
  google::protobuf::RepeatedPtrField<pb::NodeProto> nodes;
};

Error Lists::checkNames() const {
  auto check = [&](StringRef name, StringRef option, auto isKind,
                   StringRef kind) -> Error {
    for (const pb::ValueInfoProto &input : graph.input())
      if (input.name() == name)
        return isKind(input.type())
                   ? Error::success()
                   : makeError("input " + quote(name) + " is not " + kind +
                               ", so --" + option + " cannot be used for it");
    return makeError("the model has no input named " + quote(name) + "; " +
                     listInputs(graph));
  };
  std::vector<StringRef> given(options.lengths.keys().begin(),
                               options.lengths.keys().end());
  llvm::sort(given);
  for (StringRef name : given)
    if (Error error = check(
            name, "length",
            [](const pb::TypeProto &type) {
              return type.has_sequence_type() ||
                     type.optional_type().elem_type().has_sequence_type();
            },
            "a sequence"))
      return error;
  given.assign(options.absent.keys().begin(), options.absent.keys().end());
  llvm::sort(given);
  for (StringRef name : given)
    if (Error error = check(
            name, "absent",
            [](const pb::TypeProto &type) { return type.has_optional_type(); },
            "an optional"))
      return error;
  return Error::success();
}

void Lists::addInput(StringRef name, const pb::TypeProto &type) {
  pb::ValueInfoProto &input = *inputs.Add();
  input.set_name(name.str());
  *input.mutable_type() = type;
}

pb::NodeProto &Lists::addNode(StringRef opType, StringRef output) {
  pb::NodeProto &node = *nodes.Add();
  node.set_op_type(opType.str());
  node.set_name(output.str());
  node.add_output(output.str());
  return node;
}

/// Adds the inputs `NAME.0`, `NAME.1` and so on, and a node that makes the
/// sequence from them.
Error Lists::addSequence(const pb::ValueInfoProto &input,
                         const pb::TypeProto &element) {
  StringRef name = input.name();
  if (!element.has_tensor_type())
    return makeError("input " + quote(name) +
                     " is a sequence of elements "
                     "that are not tensors, which an artifact cannot take or "
                     "give");
  auto given = options.lengths.find(name);
  if (given == options.lengths.end())
    return makeError("input " + quote(name) + " is a sequence, which an "
                     "artifact cannot take or give unless its length is "
                     "stated, as in --length " + name + "=2");
  int64_t length = given->second;
  if (length < 0 || length > kMostElements)
    return makeError("the length given for input " + quote(name) + " is " +
                     Twine(length) + ", but must be in [0, " +
                     Twine(kMostElements) + "]");
  if (length == 0) {
    pb::AttributeProto &type =
        *addNode("SequenceEmpty", name).add_attribute();
    type.set_name("dtype");
    type.set_type(pb::AttributeProto::INT);
    type.set_i(element.tensor_type().elem_type());
    return Error::success();
  }
  pb::TypeProto type = element;
  // Drops the names of dimensions. With a name, all elements would need equal
  // sizes.
  if (type.tensor_type().has_shape())
    for (auto &dim :
         *type.mutable_tensor_type()->mutable_shape()->mutable_dim())
      if (!dim.has_dim_value())
        dim.clear_value();
  pb::NodeProto &list = addNode("SequenceConstruct", name);
  for (int64_t i = 0; i < length; ++i) {
    std::string part = (name + "." + Twine(i)).str();
    if (!names.insert(part).second)
      return makeError("element " + Twine(i) + " of input " + quote(name) +
                       " would be an input " + quote(part) +
                       ", but the model has a value of that name");
    list.add_input(part);
    addInput(part, type);
  }
  return Error::success();
}

/// Replaces an optional input by an input of the element type. Operators that
/// take an optional also take its element.
Error Lists::addOptional(const pb::ValueInfoProto &input) {
  const pb::TypeProto &element = input.type().optional_type().elem_type();
  StringRef name = input.name();
  if (!options.absent.contains(name)) {
    if (element.has_sequence_type())
      return addSequence(input, element.sequence_type().elem_type());
    addInput(name, element);
    return Error::success();
  }
  if (options.lengths.contains(name))
    return makeError("input " + quote(name) +
                     " is --absent, so it has no --length");
  pb::AttributeProto &type = *addNode("Optional", name).add_attribute();
  type.set_name("type");
  type.set_type(pb::AttributeProto::TYPE_PROTO);
  *type.mutable_tp() = element;
  return Error::success();
}

Error Lists::addAny(const pb::ValueInfoProto &input) {
  if (input.type().has_sequence_type())
    return addSequence(input, input.type().sequence_type().elem_type());
  if (input.type().has_optional_type())
    return addOptional(input);
  *inputs.Add() = input;
  return Error::success();
}

Error Lists::run() {
  if (Error error = checkNames())
    return error;
  auto isList = [](const pb::ValueInfoProto &input) {
    return input.type().has_sequence_type() ||
           input.type().has_optional_type();
  };
  if (llvm::none_of(graph.input(), isList))
    return Error::success();
  for (const pb::ValueInfoProto &input : graph.input())
    if (Error error = addAny(input))
      return error;
  for (pb::NodeProto &node : *graph.mutable_node())
    *nodes.Add() = std::move(node);
  graph.mutable_input()->Swap(&inputs);
  graph.mutable_node()->Swap(&nodes);
  return Error::success();
}

} // namespace

Error applyLists(pb::ModelProto &model, const ImportOptions &options) {
  return Lists(*model.mutable_graph(), options).run();
}

} // namespace ingot::importer
