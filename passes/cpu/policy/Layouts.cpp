//===- Layouts.cpp - layouts of images ------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/policy/Layouts.h"

#include "passes/cpu/policy/Thresholds.h"
#include "passes/support/Shapes.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ingot;

/// Returns true if there are many groups whose number of channels is dynamic.
/// Such groups usually have few channels, so channels do not form long
/// contiguous runs. Pixels of a row do.
static bool hasOpenGroups(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<nn::ConvOp, nn::ConvTransposeOp>([](auto conv) {
        return int64_t(conv.getGroups()) >= cpu::threshold::manyOpenGroups &&
               !cast<ShapedType>(conv.getW().getType()).hasStaticShape();
      })
      .Default([](Operation *) { return false; });
}

Answer<Layout> cpu::chooseLayout(Operation *op) {
  if (hasOpenGroups(op))
    return {Layout::channelsFirst,
            "has many groups, with an open number of channels"};
  return {Layout::channelsLast, "has spatial dimensions"};
}

Answer<bool> cpu::isForPatches(nn::ConvOp product) {
  ArrayRef<int64_t> weights = support::shapeOf(product.getW());
  if (weights[1] >= cpu::threshold::patchChannels)
    return {false, "has many channels"};
  if (support::productOf(weights.drop_front()) < cpu::threshold::patchTerms)
    return {false, "has few terms"};
  return {true, "has few channels, and windows that lie side by side"};
}
