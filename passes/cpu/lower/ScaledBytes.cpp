//===- ScaledBytes.cpp - bytes that stand for floats ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/lower/ScaledBytes.h"

#include "dialects/cpu/CpuDialect.h"
#include "dialects/ingot/IngotDialect.h"
#include "dialects/nn/Constants.h"
#include "dialects/nn/NNDialect.h"
#include "passes/cpu/policy/Thresholds.h"
#include "passes/support/Shapes.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;
using support::typeOf;

Value cpu::ScaledBytes::scale(OpBuilder &builder, Location loc,
                              Value means) const {
  Type element = typeOf(means).getElementType();
  if (factor != 1)
    means = nn::MulOp::create(builder, loc, means.getType(), means,
                              nn::makeScalar(builder, loc, element, factor));
  if (offset != 0)
    means = nn::AddOp::create(builder, loc, means.getType(), means,
                              nn::makeScalar(builder, loc, element, offset));
  return means;
}

/// Returns true if a cast preserves the values of bytes minus their zero point.
static bool keepsNumbers(nn::CastOp op) {
  Type to = op.getType().getElementType();
  return to.isF32() || to.isInteger(32);
}

/// Returns true if `op` is fused with the next op or with the previous kernel.
static bool isFused(Operation *op) {
  return isa_and_present<nn::ElementwiseOpInterface,
                         kernel::EpilogueOpInterface>(op);
}

/// Returns true if other ops read the floats, and the floats stay in the
/// second-level cache. Loading such floats is faster than converting bytes
/// again.
static bool areFloatsNear(Value value) {
  RankedTensorType type = typeOf(value);
  return !value.hasOneUse() &&
         (!type.hasStaticShape() ||
          type.getNumElements() * 4 <=
              cpu::threshold::scaledFloats(
                  TargetsAttr::of(value.getParentRegion()->getParentOp())
                      .getNumbers()));
}

std::optional<cpu::ScaledBytes> cpu::readScaledBytes(Value value,
                                                     int64_t length) {
  // The number of lanes of an AVX2 vector.
  constexpr int64_t kLanes = 8;
  if (ShapedType::isDynamic(length) || length % kLanes != 0)
    return std::nullopt;
  // The maximum number of ops to follow. A dequantization takes fewer.
  constexpr size_t kMaxOps = 4;
  SmallVector<std::pair<Operation *, double>> ops;
  Value at = value;
  bool isShared = false;
  while (!typeOf(at).getElementType().isUnsignedInteger(8)) {
    Operation *op = at.getDefiningOp();
    if (!op || ops.size() == kMaxOps)
      return std::nullopt;
    double number = 0;
    if (auto cast = dyn_cast<nn::CastOp>(op)) {
      if (!keepsNumbers(cast))
        return std::nullopt;
    } else if (isa<nn::AddOp, nn::MulOp, nn::SubOp>(op)) {
      std::optional<double> splat = nn::getSplat(op->getOperand(1));
      if (!splat)
        return std::nullopt;
      number = *splat;
    } else {
      return std::nullopt;
    }
    if (typeOf(op->getOperand(0)).getShape() != typeOf(value).getShape())
      return std::nullopt;
    ops.push_back({op, number});
    at = op->getOperand(0);
    isShared |= !at.hasOneUse();
  }
  isShared |= !value.hasOneUse();
  if ((!isShared && isFused(at.getDefiningOp())) || areFloatsNear(value))
    return std::nullopt;
  if (ops.empty() || !typeOf(value).getElementType().isF32())
    return std::nullopt;
  ScaledBytes read{at};
  for (auto [op, number] : llvm::reverse(ops)) {
    if (isa<nn::MulOp>(op)) {
      read.factor *= number;
      read.offset *= number;
    } else if (!isa<nn::CastOp>(op)) {
      read.offset += isa<nn::SubOp>(op) ? -number : number;
    }
  }
  return read;
}
