//===- RecordPacking.cpp - packed weights in the decision trace -----------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/lower/RecordPacking.h"

#include "dialects/cpu/CpuDialect.h"
#include "dialects/cpu/PackedWeights.h"
#include "passes/backend/Policy.h"
#include "passes/cpu/policy/Costs.h"
#include "passes/support/Reason.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ingot;

/// Returns a text like `panels of 32 columns, float32`.
static std::string describePanels(Value value) {
  cpu::PackedWeights weights(value);
  std::string text = "panels of " + std::to_string(weights.width) +
                     " columns, " + ingot::describe(weights.element);
  if (weights.group > 1)
    text += " in groups of " + std::to_string(weights.group);
  return text;
}

/// Returns a text like `taps by channels, float32`.
static std::string describeTaps(Value value) {
  return "taps by channels, " +
         ingot::describe(cast<ShapedType>(value.getType()).getElementType());
}

/// Describes the panels of `op` and their special properties.
template <typename Op>
static std::string describeProduct(Op op) {
  if (!op.getFormat().isSigns())
    return describePanels(op.getWeights());
  return "panels of " +
         std::to_string(cpu::PackedWeights(op.getWeights()).width) +
         " columns, signs in words of 32";
}

/// Describes how the weights of `kernel` are stored. Returns "" for other kinds
/// of kernels.
static std::string storageOf(Operation *kernel) {
  return llvm::TypeSwitch<Operation *, std::string>(kernel)
      .Case([](cpu::ConvOp op) { return describeProduct(op); })
      .Case([](cpu::MatMulOp op) {
        return describeProduct(op) +
               (op.getFormat().isBlocks() ? ", without blocks of zeros" : "");
      })
      .Case(
          [](cpu::DepthwiseConvOp op) { return describeTaps(op.getWeights()); })
      .Case([](cpu::WinogradConvOp op) {
        return describePanels(op.getWeights()) + ", transformed";
      })
      .Case([](cpu::RecurrentOp op) {
        return describePanels(op.getWeights().front());
      })
      .Case([](cpu::PackedMatMulOp op) {
        return "panels of " + std::to_string(op.panel()) + " columns, " +
               std::to_string(op.getFormat().getBits()) +
               " bits in blocks of " +
               std::to_string(op.getFormat().getBlockSize()) +
               (op.hasRoundedSrc() && digitsOf(op) > 1
                    ? ", and rows of three bytes for each element"
                    : "");
      })
      .Default([](Operation *) { return ""; });
}

void cpu::recordPacking(Operation *kernel) {
  if (!isRecorded(kernel))
    return;
  std::string choice = storageOf(kernel);
  assert(!choice.empty() && "is a product with weights");
  auto dst = cast<ShapedType>(kernel->getResult(0).getType());
  std::string channels = ShapedType::isDynamic(dst.getShape().back())
                             ? "an open number of"
                             : std::to_string(dst.getShape().back());
  record(kernel, Question::packing, choice,
         "has " + channels + " output channels", weighPacking(kernel, choice));
}
