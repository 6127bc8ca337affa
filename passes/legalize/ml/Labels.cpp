//===- Labels.cpp - string labels of classes ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Handles labels of classes. Labels that are strings become indices into a
// list, and a map from label to score becomes the scores in this order. The
// list is in the model's metadata, under the output's name. Labels that the
// model itself uses stay strings.
//
//===----------------------------------------------------------------------===//
#include "dialects/ingot/ElementTypes.h"
#include "dialects/ingot/IngotDialect.h"
#include "passes/legalize/ml/MachineLearning.h"

#include "llvm/Support/JSON.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

/// Collects the model outputs that are `value`, directly or through Identity.
/// Returns false if the value has other uses.
static bool findOutputs(Value value, SmallVectorImpl<unsigned> &outputs) {
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<func::ReturnOp>(user)) {
      outputs.push_back(use.getOperandNumber());
      return true;
    }
    auto node = dyn_cast<onnx::NodeOp>(user);
    return node && node.getOpType() == "Identity" &&
           node.getDomain().empty() &&
           findOutputs(node.getResult(0), outputs);
  });
}

bool legalize::tellLabels(Node &node, llvm::json::Array labels) {
  SmallVector<unsigned> outputs;
  auto function = node.op->getParentOfType<func::FuncOp>();
  if (!function || node.op->getParentOp() != function ||
      !findOutputs(node.op.getResult(0), outputs))
    return false;
  auto module = function->getParentOfType<ModuleOp>();
  IngotDialect::MetadataAttrHelper helper(node.context());
  NamedAttrList entries;
  if (DictionaryAttr known = helper.getAttr(module))
    entries.append(known.begin(), known.end());
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(labels));
  for (unsigned output : outputs)
    if (auto name = function.getResultAttrOfType<StringAttr>(
            output, IngotDialect::NameAttrHelper::getNameStr()))
      entries.set(("labels." + name.getValue()).str(),
                  node.builder.getStringAttr(text));
  helper.setAttr(module, entries.getDictionary(node.context()));
  return true;
}

/// Replaces ZipMap by the scores. The metadata have the labels of the columns.
static LogicalResult legalizeZipMap(Node &node) {
  auto x = readRows(node, 0);
  if (failed(x))
    return failure();
  llvm::json::Array labels;
  if (auto ints = node.getInts("classlabels_int64s"))
    for (int64_t label : *ints)
      labels.push_back(label);
  else if (auto words = node.op.getNodeAttrs().getAs<ArrayAttr>(
               "classlabels_strings"))
    for (auto word : words.getAsRange<StringAttr>())
      labels.push_back(llvm::json::fixUTF8(word.getValue()));
  if (labels.empty())
    return node.invalid("there are no labels");
  if (failed(requireFit(node, nn::SizeRelation::equal, sizeOf(node, *x, 1),
                        sizeAttr(node, labels.size()),
                        "there are scores of {0} classes, but {1} labels")))
    return failure();
  if (!tellLabels(node, std::move(labels)))
    return node.unsupported("a map, which is not only an output of the model");
  return node.replace(*x);
}

FailureOr<Labels> legalize::readLabels(Node &node, StringRef ints,
                                       StringRef strings) {
  Type i64 = node.builder.getI64Type();
  if (auto labels = node.getInts(ints); labels && !labels->empty())
    return Labels{*labels, i64};
  auto words = node.op.getNodeAttrs().getAs<ArrayAttr>(strings);
  if (!words || words.empty())
    return node.invalid(ints + " is missing");
  SmallVector<int64_t> places;
  llvm::json::Array labels;
  for (auto word : words.getAsRange<StringAttr>()) {
    places.push_back(int64_t(places.size()));
    labels.push_back(llvm::json::fixUTF8(word.getValue()));
  }
  if (tellLabels(node, std::move(labels)))
    return Labels{places, i64};
  return Labels{placesOf(node, words),
                stringType(node.context())};
}

void legalize::populateLabels(Legalizers &legalizers) {
  legalizers.add("ZipMap", legalizeZipMap, kMlDomain);
}
