//===- HalfProducts.cpp - what is multiplied as bf16 or f16 ---------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/support/HalfProducts.h"

#include "dialects/nn/NNDialect.h"
#include "passes/support/Shapes.h"
#include "passes/support/SmallGroups.h"

using namespace mlir;
using namespace ingot;
using lower::shapeOf;

static bool isDepthwise(nn::ConvOp conv) {
  return lower::areDepthwise(shapeOf(conv.getW()), conv.getGroups());
}

bool lower::isWorthBF16(Operation *op) {
  auto conv = dyn_cast<nn::ConvOp>(op);
  if (!conv || isDepthwise(conv))
    return true;
  ArrayRef<int64_t> weights = shapeOf(conv.getW());
  if (areSmallGroups(weights, conv.getGroups()))
    return false;
  int64_t channels = weights[1], terms = productOf(weights.drop_front());
  // Open sizes are large.
  if (ShapedType::isDynamic(terms))
    return true;
  return channels % 2 == 0 ? channels >= 4 && terms >= 20
                           : channels >= 7 && terms >= 31;
}

bool lower::isWorthHalfSums(Operation *op) {
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
