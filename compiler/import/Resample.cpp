//===- Resample.cpp - Upsample and Resize of old opsets -------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/import/Resample.h"

#include <cstring>

using namespace llvm;

namespace ingot::importer {

/// Returns true if a constant contains a scale below 1, which reduces a size.
static bool hasReduction(const pb::TensorProto &scales) {
  for (float scale : scales.float_data())
    if (scale < 1)
      return true;
  const std::string &raw = scales.raw_data();
  for (size_t i = 0; i + sizeof(float) <= raw.size(); i += sizeof(float)) {
    float scale;
    std::memcpy(&scale, raw.data() + i, sizeof(float));
    if (scale < 1)
      return true;
  }
  return false;
}

OldResamples findOldResamples(pb::ModelProto &model) {
  StringMap<bool> reductions;
  consumeError(forEachTensor(
      model, [&](pb::TensorProto &tensor, const pb::NodeProto *node) -> Error {
        if (tensor.data_type() != pb::TensorProto::FLOAT)
          return Error::success();
        if (!node)
          reductions[tensor.name()] = hasReduction(tensor);
        else if (node->op_type() == "Constant" && node->output_size() == 1)
          reductions[node->output(0)] = hasReduction(tensor);
        return Error::success();
      }));
  OldResamples old;
  consumeError(forEachNode(model, [&](pb::NodeProto &node) -> Error {
    if (!node.domain().empty() || node.output_size() != 1 ||
        (node.op_type() != "Resize" && node.op_type() != "Upsample"))
      return Error::success();
    // If several pixels become one, the old Resize takes the last of them
    // instead of the first.
    bool takesLast = node.op_type() == "Resize" && node.input_size() == 2 &&
                     reductions.lookup(node.input(1));
    old[node.output(0)] = takesLast ? "ceil" : "floor";
    return Error::success();
  }));
  return old;
}

static void setString(pb::NodeProto &node, const char *name,
                      const std::string &value) {
  pb::AttributeProto *attr = nullptr;
  for (pb::AttributeProto &known : *node.mutable_attribute())
    if (known.name() == name)
      attr = &known;
  if (!attr)
    attr = node.add_attribute();
  attr->Clear();
  attr->set_name(name);
  attr->set_type(pb::AttributeProto::STRING);
  attr->set_s(value);
}

void restoreOldResamples(pb::ModelProto &model, const OldResamples &old) {
  consumeError(forEachNode(model, [&](pb::NodeProto &node) -> Error {
    if (node.op_type() != "Resize" || node.output_size() != 1)
      return Error::success();
    auto it = old.find(node.output(0));
    if (it == old.end())
      return Error::success();
    setString(node, "coordinate_transformation_mode", "asymmetric");
    setString(node, "nearest_mode", it->second);
    return Error::success();
  }));
}

} // namespace ingot::importer
