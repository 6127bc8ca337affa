//===- Versions.cpp - old operator sets to the newest ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/import/ConvertedConstants.h"
#include "compiler/import/Guard.h"
#include "compiler/import/Normalize.h"
#include "compiler/import/OnnxBridge.h"
#include "compiler/import/Resample.h"
#include "compiler/import/Validate.h"

#include "onnx/version_converter/convert.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <set>

using namespace llvm;

namespace ingot::importer {

/// Returns true if ONNX's converter would change the meaning of a node. It does
/// not convert Hardmax, although up to opset 12 Hardmax works on all dimensions
/// from its axis on.
static bool isMisconverted(pb::ModelProto &model, int64_t opset) {
  bool found = false;
  consumeError(forEachNode(model, [&](pb::NodeProto &node) -> Error {
    found |= node.domain().empty() && node.op_type() == "Hardmax" && opset < 13;
    return Error::success();
  }));
  return found;
}

static pb::ModelProto convert(pb::ModelProto model, int64_t from, int64_t to) {
  // Creating a converter registers thousands of adapters, so all models share
  // one.
  static const pb::version_conversion::DefaultVersionConverter converter;
  inferShapes(model);
  pb::ModelProto converted =
      converter.convert_version(model, pb::OpSetID(from), pb::OpSetID(to));
  retypeConstants(converted, collectElementTypes(model));
  return converted;
}

/// The oldest opset that the legalizer supports.
static constexpr int64_t kOldestOpset = 7;

/// Returns true if the inputs of both graphs have equal names and types. They
/// differ if the converter removed the batch dimension of an old Scan's inputs.
/// Output types are not compared, because they are inferred again.
static bool hasSameInterface(const pb::GraphProto &a,
                             const pb::GraphProto &b) {
  return llvm::equal(a.input(), b.input(),
                     [](const auto &i, const auto &j) {
                       return i.name() == j.name() &&
                              i.type().SerializeAsString() ==
                                  j.type().SerializeAsString();
                     }) &&
         llvm::equal(a.output(), b.output(), [](const auto &i, const auto &j) {
           return i.name() == j.name();
         });
}

/// Returns pairs of name and contents for all tensors. The name is that of the
/// initializer or of the Constant's output. Several graphs may use one name.
static std::set<std::pair<std::string, std::string>>
contentsOf(pb::ModelProto &model) {
  std::set<std::pair<std::string, std::string>> contents;
  auto add = [&](const std::string &name, pb::TensorProto tensor) {
    tensor.clear_name();
    tensor.clear_doc_string();
    // The converter sets data_location explicitly.
    if (tensor.data_location() == pb::TensorProto::DEFAULT)
      tensor.clear_data_location();
    contents.emplace(name, tensor.SerializeAsString());
  };
  consumeError(forEachGraph(model, [&](pb::GraphProto &graph) -> Error {
    for (const pb::TensorProto &tensor : graph.initializer())
      add(tensor.name(), tensor);
    for (const pb::NodeProto &node : graph.node())
      if (node.op_type() == "Constant" && node.domain().empty())
        for (const pb::AttributeProto &attr : node.attribute())
          if (attr.has_t() && node.output_size() == 1)
            add(node.output(0), attr.t());
    return Error::success();
  }));
  return contents;
}

/// Returns true if every tensor of `after` whose name is also in `before` has
/// the same contents.
static bool keepsTensors(pb::ModelProto &before, pb::ModelProto &after) {
  auto known = contentsOf(before);
  StringSet<> names;
  for (const auto &[name, bytes] : known)
    names.insert(name);
  return llvm::all_of(contentsOf(after), [&](const auto &content) {
    return !names.contains(content.first) || known.count(content);
  });
}

/// Gives nodes that the converter has made the names of the nodes that they
/// replace, because the user knows those names.
static void restoreNames(pb::ModelProto &before, pb::ModelProto &after) {
  StringMap<std::string> names;
  consumeError(forEachNode(before, [&](pb::NodeProto &node) -> Error {
    for (const std::string &output : node.output())
      if (!output.empty())
        names[output] = nodeName(node);
    return Error::success();
  }));
  consumeError(forEachNode(after, [&](pb::NodeProto &node) -> Error {
    for (const std::string &output : node.output())
      if (auto name = names.find(output);
          node.name().empty() && name != names.end())
        node.set_name(name->second);
    return Error::success();
  }));
}

Error convertVersion(Model &whole) {
  pb::ModelProto &model = whole.proto;
  int64_t opset = getOpset(model, "");
  whole.statedOpset = opset;
  if (opset == 0 || opset == newestOpset())
    return Error::success();
  Error failed = guard([&]() -> Error {
    if (isMisconverted(model, opset))
      return makeError("ONNX's converter does not know Hardmax");
    OldResamples resamples;
    if (opset <= 10)
      resamples = findOldResamples(model);
    pb::ModelProto converted = convert(model, opset, newestOpset());
    dropInferredTypes(converted);
    restoreOldResamples(converted, resamples);
    restoreNames(model, converted);
    if (!hasSameInterface(model.graph(), converted.graph()))
      return makeError("the converter changed the inputs or outputs");
    if (!keepsTensors(model, converted))
      return makeError("the converter changed a tensor");
    if (Error error = checkModel(converted))
      return error;
    if (Error error = validateNodes(converted))
      return error;
    std::swap(model, converted);
    Error error = validateTensors(whole);
    if (error)
      std::swap(model, converted);
    return error;
  });
  if (failed && opset < kOldestOpset)
    return makeError("opset " + Twine(opset) + " is older than " +
                     Twine(kOldestOpset) + ", the oldest that is supported, "
                     "and cannot be converted: " + toString(std::move(failed)));
  // Drops the error, because the legalizer also accepts older opsets.
  consumeError(std::move(failed));
  return Error::success();
}

} // namespace ingot::importer
