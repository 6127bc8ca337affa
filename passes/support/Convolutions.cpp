//===- Convolutions.cpp - kinds of convolutions ---------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/support/Convolutions.h"

#include "passes/support/Shapes.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::support;

bool support::hasSingleChannels(nn::ConvOp op) {
  return haveSingleChannels(shapeOf(op.getW()), op.getGroups());
}

bool support::hasSingleChannels(nn::ConvTransposeOp op) {
  const auto groups = int64_t(op.getGroups());
  return groups > 1 && shapeOf(op.getW()).front() == groups;
}

bool support::isDepthwise(nn::ConvOp op) {
  return areDepthwise(shapeOf(op.getW()), op.getGroups());
}

Reason support::whyNotThreeByThree(nn::ConvOp op) {
  auto are = [](ArrayRef<int64_t> values, int64_t value) {
    return llvm::all_of(values, [&](int64_t v) { return v == value; });
  };
  constexpr int64_t kTaps = 3;
  ArrayRef<int64_t> weights = shapeOf(op.getW());
  if (weights.size() != 4 || !are(weights.drop_front(2), kTaps))
    return "has other taps than 3x3";
  if (!are(op.getStrides(), 1) || !are(op.getDilations(), 1))
    return "has strides or dilations";
  if (op.getGroups() != 1)
    return "has groups";
  return std::nullopt;
}
