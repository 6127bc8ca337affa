//===- Attributes.cpp - checks of attribute values ------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/onnx/Domains.h"
#include "passes/legalize/core/Attributes.h"
#include "passes/legalize/ml/MachineLearning.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

/// Returns true if every operator with this attribute allows only 0 and 1, in a
/// scalar or a list.
static bool isFlag(StringRef name) {
  static const llvm::StringSet<> flags = {"align_corners",
                                          "allowzero",
                                          "antialias",
                                          "ceil_mode",
                                          "center_point_box",
                                          "count_include_pad",
                                          "detect_negative",
                                          "detect_positive",
                                          "directions",
                                          "exclude_outside",
                                          "exclusive",
                                          "fmod",
                                          "input_forget",
                                          "interleaved",
                                          "inverse",
                                          "is_case_sensitive",
                                          "is_causal",
                                          "keepdims",
                                          "largest",
                                          "layout",
                                          "linear_before_reset",
                                          "noop_with_empty_axes",
                                          "onesided",
                                          "periodic",
                                          "reverse",
                                          "saturate",
                                          "scan_input_directions",
                                          "scan_output_directions",
                                          "select_last_index",
                                          "sorted",
                                          "storage_order",
                                          "training_mode",
                                          "transA",
                                          "transB",
                                          "upper",
                                          "zeros"};
  return flags.contains(name);
}

/// Returns the allowed strings of an attribute that the operator's legalizer
/// reads only in some cases. Returns nothing for other attributes.
static ArrayRef<StringRef> wordsOf(StringRef opType, StringRef name) {
  static constexpr StringRef kernels[] = {"LINEAR", "POLY", "RBF", "SIGMOID"},
                             reductions[] = {"mean", "none", "sum"},
                             roundings[] = {"up", "down", "nearest"};
  if (name == "kernel_type")
    return kernels;
  if (name == "reduction" && opType.ends_with("Loss"))
    return reductions;
  if (name == "round_mode")
    return roundings;
  return {};
}

static LogicalResult checkFlags(Node &node, StringRef name,
                                ArrayRef<int64_t> flags, bool isList) {
  for (auto [i, flag] : llvm::enumerate(flags))
    if (flag != 0 && flag != 1)
      return node.badElement(name,
                             isList ? std::optional<int64_t>(i) : std::nullopt,
                             Twine(flag), "0 or 1");
  return success();
}

LogicalResult legalize::checkAttributes(Node &node) {
  StringRef domain = node.op.getDomain();
  if (!domain.empty() && domain != kMlDomain && domain != kContractDomain)
    return success();
  for (NamedAttribute attribute : node.op.getNodeAttrs()) {
    StringRef name = attribute.getName();
    if (isFlag(name)) {
      LogicalResult checked = success();
      if (auto flag = dyn_cast<IntegerAttr>(attribute.getValue()))
        checked = checkFlags(node, name, flag.getInt(), /*isList=*/false);
      else if (auto list = dyn_cast<DenseI64ArrayAttr>(attribute.getValue()))
        checked = checkFlags(node, name, list, /*isList=*/true);
      if (failed(checked))
        return failure();
      continue;
    }
    if (name == "stash_type" &&
        !isa_and_nonnull<FloatType>(
            elementTypeOf(node.context(), node.getInt(name, 1))))
      return node.invalid("stash_type is not a float type");
    auto word = dyn_cast<StringAttr>(attribute.getValue());
    ArrayRef<StringRef> words = wordsOf(node.opType(), name);
    if (word && !words.empty() && !llvm::is_contained(words, word.getValue()))
      return node.badElement(name, std::nullopt, "'" + word.getValue() + "'",
                             llvm::join(words.drop_back(), ", ") + " or " +
                                 words.back());
  }
  return success();
}
