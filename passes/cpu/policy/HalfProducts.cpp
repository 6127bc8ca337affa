//===- HalfProducts.cpp - what is multiplied as bf16 or f16 ---------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/policy/HalfProducts.h"

#include "dialects/nn/Constants.h"
#include "dialects/nn/NNDialect.h"
#include "passes/cpu/policy/SmallGroups.h"
#include "passes/support/Shapes.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;
using namespace ingot::support;
using support::shapeOf;

static bool isDepthwise(nn::ConvOp conv) {
  return cpu::areDepthwise(shapeOf(conv.getW()), conv.getGroups());
}

/// Ops of a model that are looked at before or behind one.
static constexpr size_t kMostAround = 64;

bool cpu::isDepthwiseAlone(Operation *op,
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
    for (size_t i = 0; i < around.size() && i < kMostAround; ++i) {
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

/// Fewer rows are no tiles, and fewer products take less time than rounding.
static constexpr int64_t kFewRows = 4, kLeastProducts = 1 << 14;

/// Whether `product` multiplies few rows by a small matrix: floats in the first
/// cache then take less time than rounding rows takes. One row waits for
/// weights. Rows of open number may be many. So few terms do not pay for tiles.
static bool isSmall(nn::MatMulOp product) {
  constexpr int64_t kLeastWeights = 1 << 13, kLeastTerms = 12;
  ArrayRef<int64_t> weights = shapeOf(product.getB());
  if (weights.size() != 2 || product.getTransposeA() ||
      !nn::getConstant(product.getB()))
    return false;
  int64_t rows = support::productOf(shapeOf(product.getA()).drop_back()),
          elements = support::productOf(weights);
  if (ShapedType::isDynamic(rows) || ShapedType::isDynamic(elements))
    return false;
  if (rows >= kFewRows)
    return rows * elements < kLeastProducts ||
           shapeOf(product.getA()).back() < kLeastTerms;
  return elements < (rows == 1 ? kLeastWeights : 4 * kLeastWeights);
}

/// The same of a convolution: rows of so few pixels are no tiles, which few
/// outputs do not make up for, and of groups of four channels tiles are mostly
/// empty, which many pixels make up for.
static bool isSmall(nn::ConvOp conv) {
  constexpr int64_t kFewWeights = 1 << 16, kFewOutputs = 16,
                    kFewInGroup = 4, kManyPixels = 1 << 9;
  ArrayRef<int64_t> w = shapeOf(conv.getW()), y = shapeOf(conv.getResult());
  int64_t elements = support::productOf(w);
  if (llvm::any_of(y, ShapedType::isDynamic) || !nn::getConstant(conv.getW()))
    return false;
  const size_t channels = conv.getChannelsLast() ? y.size() - 1 : 1;
  int64_t pixels = support::productOf(y) / std::max<int64_t>(y[channels], 1),
          width = y[conv.getChannelsLast() ? y.size() - 2 : y.size() - 1];
  if (pixels * elements < kLeastProducts ||
      (conv.getGroups() > 1 && w[1] <= kFewInGroup && pixels < kManyPixels))
    return true;
  bool hasWindows = support::productOf(w.drop_front(2)) > 1;
  return hasWindows && width < kFewRows && elements < kFewWeights &&
         w[0] <= kFewOutputs * int64_t(conv.getGroups());
}

bool cpu::isWorthBF16(Operation *op) {
  if (auto product = dyn_cast<nn::MatMulOp>(op))
    return !isSmall(product);
  auto conv = dyn_cast<nn::ConvOp>(op);
  if (!conv || isDepthwise(conv))
    return true;
  ArrayRef<int64_t> weights = shapeOf(conv.getW());
  if (areSmallGroups(weights, conv.getGroups()) || isSmall(conv))
    return false;
  int64_t channels = weights[1], terms = productOf(weights.drop_front());
  // Open sizes are large.
  if (ShapedType::isDynamic(terms))
    return true;
  return channels % 2 == 0 ? channels >= 4 && terms >= 20
                           : channels >= 7 && terms >= 31;
}

int64_t cpu::countWeights(Operation *root) {
  int64_t count = 0;
  root->walk([&](Operation *op) {
    if (isa<nn::ConvOp, nn::MatMulOp>(op) && nn::getConstant(op->getOperand(1)))
      count += productOf(shapeOf(op->getOperand(1)));
  });
  return count;
}

/// The rows that share weights: pixels, or rows of matrices.
static int64_t rowsOf(Operation *op) {
  SmallVector<int64_t> y(shapeOf(op->getResult(0)));
  auto conv = dyn_cast<nn::ConvOp>(op);
  y.erase(conv && !conv.getChannelsLast() ? y.begin() + 1 : y.end() - 1);
  return support::productOf(y);
}

/// Whether widened weights of a few columns find room on the stack, or go there
/// part by part: those of matrices, and points of 3x3 taps.
static bool fitWidened(Operation *op) {
  constexpr int64_t kMostTerms = 1 << 11, kMostChannels = 352;
  ArrayRef<int64_t> weights = shapeOf(op->getOperand(1));
  auto areAll = [](ArrayRef<int64_t> numbers, int64_t number) {
    return llvm::all_of(numbers, [&](int64_t n) { return n == number; });
  };
  auto conv = dyn_cast<nn::ConvOp>(op);
  if (!conv)
    return !ShapedType::isDynamic(rowsOf(op)) ||
           shapeOf(op->getOperand(0)).back() <= kMostTerms;
  ArrayRef<int64_t> taps = weights.drop_front(2);
  if (areAll(taps, 1) && !ShapedType::isDynamic(rowsOf(op)))
    return true;
  bool isFiltering = taps.size() == 2 && areAll(taps, 3) &&
                     areAll(conv.getStrides(), 1) &&
                     areAll(conv.getDilations(), 1) && conv.getGroups() == 1 &&
                     weights[1] <= kMostChannels;
  return isFiltering || support::productOf(weights.drop_front()) <= kMostTerms;
}

bool cpu::isWorthHalfWeights(Operation *op, int64_t allWeights) {
  constexpr int64_t kMostInCache = 1 << 19, kLeastWeights = 1 << 14,
                    kManyRows = 48, kFewRows = 8, kFewChannels = 32;
  ArrayRef<int64_t> weights = shapeOf(op->getOperand(1));
  int64_t elements = productOf(weights), rows = rowsOf(op);
  if (allWeights < kMostInCache || elements < kLeastWeights ||
      !fitWidened(op))
    return false;
  // Pictures of open size are large; matrices may be of a row.
  if (ShapedType::isDynamic(rows) && isa<nn::ConvOp>(op))
    return weights[1] >= kFewChannels;
  return rows >= kManyRows || (rows <= kFewRows && elements >= kMostInCache);
}

bool cpu::isWorthHalfSums(Operation *op) {
  constexpr int64_t kFewestTerms = 32;
  ArrayRef<int64_t> weights = shapeOf(op->getOperand(1));
  if (auto conv = dyn_cast<nn::ConvOp>(op))
    return weights[1] >= kFewestTerms || isDepthwise(conv);
  // Batches of constant matrices would have scales of their own.
  auto product = cast<nn::MatMulOp>(op);
  ArrayRef<int64_t> src = shapeOf(product.getA());
  return weights.size() == 2 &&
         src[src.size() - (product.getTransposeA() ? 2 : 1)] >= kFewestTerms;
}
