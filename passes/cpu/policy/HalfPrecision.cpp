//===- HalfPrecision.cpp - products of bf16 and f16 -----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/policy/HalfPrecision.h"

#include "dialects/nn/Constants.h"
#include "dialects/nn/NNDialect.h"
#include "passes/cpu/policy/Machine.h"
#include "passes/cpu/policy/SmallGroups.h"
#include "passes/cpu/policy/Thresholds.h"
#include "passes/support/Convolutions.h"
#include "passes/support/Shapes.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;
using support::isDepthwise;
using support::productOf;
using support::shapeOf;
using support::whyNotThreeByThree;

/// Returns true if `op` is a depthwise convolution without a near product for
/// which `isHalf` is true. A product is near if no other product or mean lies
/// between. Storing the data in 16 bits does not pay then. Depthwise
/// convolutions multiply f32, so each one would only widen and round its data.
static bool isDepthwiseAlone(Operation *op,
                             function_ref<bool(Operation *)> isHalf) {
  auto conv = dyn_cast<nn::ConvOp>(op);
  if (!conv || !isDepthwise(conv))
    return false;
  auto isProduct = [](Operation *op) {
    return isa<nn::ConvOp, nn::MatMulOp>(op);
  };
  auto meets = [&](bool isBefore) {
    llvm::SetVector<Operation *> around;
    auto addNeighbours = [&](Operation *op) {
      if (!isBefore)
        around.insert(op->user_begin(), op->user_end());
      else
        for (Value operand : op->getOperands())
          if (Operation *producer = operand.getDefiningOp())
            around.insert(producer);
    };
    addNeighbours(op);
    for (size_t i = 0;
         i < around.size() && i < size_t(threshold::halfMostAround); ++i) {
      Operation *other = around[i];
      auto otherConv = dyn_cast<nn::ConvOp>(other);
      if (isProduct(other) && !(otherConv && isDepthwise(otherConv)) &&
          isHalf(other))
        return true;
      if (!isProduct(other) && !isa<nn::ReduceOp>(other))
        addNeighbours(other);
    }
    return false;
  };
  return !meets(/*isBefore=*/true) && !meets(/*isBefore=*/false);
}

/// Says why a matrix product is faster in f32 than in bf16. If a cache holds
/// the matrix as f32, rounding few rows takes longer than bf16 saves. A single
/// row pays with a smaller matrix, because reading weights limits its speed. A
/// dynamic number of rows counts as large.
static Reason whyTooSmall(nn::MatMulOp product) {
  ArrayRef<int64_t> weights = shapeOf(product.getB());
  if (weights.size() != 2 || product.getTransposeA() ||
      !nn::getConstant(product.getB()))
    return std::nullopt;
  int64_t rows = productOf(shapeOf(product.getA()).drop_back()),
          elements = productOf(weights);
  if (ShapedType::isDynamic(rows) || ShapedType::isDynamic(elements))
    return std::nullopt;
  if (rows >= threshold::bf16FewestRows) {
    if (rows * elements < threshold::bf16FewestProducts)
      return "takes less time than rounding its factors";
    if (shapeOf(product.getA()).back() < threshold::bf16FewestTermsOfRows)
      return "has few terms, which do not pay for tiles";
    return std::nullopt;
  }
  if (elements < (rows == 1 ? threshold::bf16FewestWeightsOfRow
                            : threshold::bf16FewestWeightsOfRows(
                                  Machine(product).numbers)))
    return "multiplies few rows by weights that fit in a cache as floats";
  return std::nullopt;
}

/// Says why a convolution is too small for bf16. Rows of few pixels do not fill
/// tiles; bf16 then pays only with many outputs. Groups of few channels leave
/// tiles mostly empty; bf16 then pays only with many pixels.
static Reason whyTooSmall(nn::ConvOp conv) {
  ArrayRef<int64_t> w = shapeOf(conv.getW()), y = shapeOf(conv.getResult());
  int64_t elements = productOf(w);
  if (llvm::any_of(y, ShapedType::isDynamic) || !nn::getConstant(conv.getW()))
    return std::nullopt;
  const size_t channels = conv.getChannelsLast() ? y.size() - 1 : 1;
  int64_t pixels = productOf(y) / std::max<int64_t>(y[channels], 1),
          width = y[conv.getChannelsLast() ? y.size() - 2 : y.size() - 1];
  if (pixels * elements < threshold::bf16FewestProducts)
    return "takes less time than rounding its factors";
  if (conv.getGroups() > 1 && w[1] <= threshold::bf16FewInGroup &&
      pixels < threshold::bf16FewestPixelsOfGroups)
    return "has few channels per group and few pixels, which leave tiles "
           "mostly empty";
  bool hasWindows = productOf(w.drop_front(2)) > 1;
  if (hasWindows && width < threshold::bf16FewestRows &&
      elements < threshold::bf16FewestWeightsOfNarrow &&
      w[0] <= threshold::bf16FewOutputs * int64_t(conv.getGroups()))
    return "has rows of few pixels and few outputs, which do not fill tiles";
  return std::nullopt;
}

/// Says why it does not pay to multiply the factors of `op` as bf16. With few
/// terms, bf16 saves less time than rounding takes. An odd number of channels
/// must be larger. Terms are multiplied in pairs, so the odd term of each tap
/// is copied.
static Reason whyNotBF16(Operation *op) {
  if (auto product = dyn_cast<nn::MatMulOp>(op))
    return whyTooSmall(product);
  auto conv = dyn_cast<nn::ConvOp>(op);
  if (!conv || isDepthwise(conv))
    return std::nullopt;
  ArrayRef<int64_t> weights = shapeOf(conv.getW());
  if (areSmallGroups(weights, conv.getGroups()))
    return "has few channels per group, and floats put several groups in a "
           "vector";
  if (Reason reason = whyTooSmall(conv))
    return reason;
  int64_t channels = weights[1], terms = productOf(weights.drop_front());
  // Treats open sizes as large.
  if (ShapedType::isDynamic(terms))
    return std::nullopt;
  const bool isEven = channels % 2 == 0;
  if (channels < (isEven ? threshold::bf16FewestChannels
                         : threshold::bf16FewestOddChannels) ||
      terms <
          (isEven ? threshold::bf16FewestTerms : threshold::bf16FewestOddTerms))
    return "has few channels or terms, which do not pay for rounding";
  return std::nullopt;
}

/// Returns the number of rows that share weights: pixels, or rows of matrices.
static int64_t rowsOf(Operation *op) {
  SmallVector<int64_t> y(shapeOf(op->getResult(0)));
  auto conv = dyn_cast<nn::ConvOp>(op);
  y.erase(conv && !conv.getChannelsLast() ? y.begin() + 1 : y.end() - 1);
  return productOf(y);
}

/// Returns true if the stack can hold the f32 weights of a few columns. For a
/// matrix and for 3x3 taps, the kernel can widen a part of the weights at a
/// time.
static bool fitWidened(Operation *op) {
  ArrayRef<int64_t> weights = shapeOf(op->getOperand(1));
  auto conv = dyn_cast<nn::ConvOp>(op);
  if (!conv)
    return !ShapedType::isDynamic(rowsOf(op)) ||
           shapeOf(op->getOperand(0)).back() <= threshold::halfMostWidenedTerms;
  if (llvm::all_of(weights.drop_front(2),
                   [](int64_t tap) { return tap == 1; }) &&
      !ShapedType::isDynamic(rowsOf(op)))
    return true;
  return (!whyNotThreeByThree(conv) &&
          weights[1] <= threshold::halfMostWinogradChannels) ||
         productOf(weights.drop_front()) <= threshold::halfMostWidenedTerms;
}

bool cpu::isWorthF16Sums(Operation *op) { return !whyNotF16Sums(op); }

Reason cpu::whyNotF16Sums(Operation *op) {
  ArrayRef<int64_t> weights = shapeOf(op->getOperand(1));
  if (auto conv = dyn_cast<nn::ConvOp>(op)) {
    if (weights[1] >= threshold::f16FewestTerms || isDepthwise(conv))
      return std::nullopt;
    return "has few channels, which do not pay for widening sums";
  }
  // Accepts no batch of constant matrices, because each matrix would need
  // separate scales.
  auto product = cast<nn::MatMulOp>(op);
  ArrayRef<int64_t> src = shapeOf(product.getA());
  if (weights.size() != 2)
    return "multiplies batches of matrices";
  if (src[src.size() - (product.getTransposeA() ? 2 : 1)] <
      threshold::f16FewestTerms)
    return "has few terms, which do not pay for widening sums";
  return std::nullopt;
}

/// Returns the answer for a form that also stores data in 16 bits.
static Answer<bool> answer(Operation *op,
                           function_ref<Reason(Operation *)> whyNot) {
  if (Reason reason = whyNot(op))
    return {false, *reason};
  if (isDepthwiseAlone(op, [&](Operation *other) { return !whyNot(other); }))
    return {false, "is a depthwise convolution far from products in 16 bits"};
  return {true, "has enough terms and rows to pay for rounding"};
}

Answer<bool> cpu::isForBF16(Operation *op) { return answer(op, whyNotBF16); }

Answer<bool> cpu::isForF16(Operation *op) { return answer(op, whyNotF16Sums); }

Answer<bool> cpu::isForF16Weights(Operation *op, int64_t allWeights) {
  const int64_t inCache = threshold::halfWeightsInCache(Machine(op).numbers);
  ArrayRef<int64_t> weights = shapeOf(op->getOperand(1));
  int64_t elements = productOf(weights), rows = rowsOf(op);
  if (allWeights < inCache)
    return {false, "belongs to a model whose weights fit in a cache as floats"};
  if (elements < threshold::halfFewestWeights)
    return {false, "has too few weights to gain from storing them in 16 bits"};
  if (!fitWidened(op))
    return {false, "has weights that do not fit on the stack once widened"};
  // Treats a convolution of dynamic size as large. A matrix product of dynamic
  // size counts as small below, because it may have a single row.
  if (ShapedType::isDynamic(rows) && isa<nn::ConvOp>(op)) {
    if (weights[1] >= threshold::halfFewestChannels)
      return {true, "has enough channels to pay for widening weights"};
    return {false, "has few channels, which are copied for each tile"};
  }
  if (rows >= threshold::halfManyRows)
    return {true, "has enough rows to hide the time of widening weights"};
  if (rows <= threshold::halfFewRows && elements >= inCache)
    return {true, "has few rows, whose time is that of reading weights"};
  return {false, "has too few rows to hide the time of widening weights"};
}
