//===- KernelReasons.cpp - what kernels of several backends lack ----------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/support/KernelReasons.h"

#include "passes/support/Shapes.h"

using namespace mlir;
using namespace ingot;
using support::typeOf;

Reason support::whyNotWindowed(RankedTensorType type, ArrayRef<int64_t> pads) {
  if (type.getRank() < 3 || type.getRank() > 5)
    return "has data of rank " + std::to_string(type.getRank()) +
           ", where kernels have one to three spatial dimensions";
  if (llvm::any_of(pads, [](int64_t pad) { return pad < 0; }))
    return "crops its input by negative pads";
  return std::nullopt;
}

template <typename Op>
static Reason whyNotPooled(Op op) {
  if (!op.getChannelsLast())
    return kChannelsNotLast;
  for (Value value : {Value(op.getX()), Value(op.getY())})
    if (ShapedType::isDynamic(typeOf(value).getShape().back()))
      return "has an open number of channels: " + describe(value.getType());
  return support::whyNotWindowed(typeOf(op.getY()), op.getPads());
}

Reason support::whyNotPool(nn::AvgPoolOp op) { return whyNotPooled(op); }
Reason support::whyNotPool(nn::MaxPoolOp op) { return whyNotPooled(op); }

static Reason whyNotRows(Value y, int64_t axis, ArrayRef<Value> factors) {
  RankedTensorType type = typeOf(y);
  if (axis >= type.getRank())
    return "normalizes no dimension";
  return whyNotFactors(type.getShape().drop_front(size_t(axis)), factors);
}

Reason support::whyNotRowNorm(nn::LayerNormOp op) {
  return whyNotRows(op.getY(), op.getAxis(), {op.getScale(), op.getBias()});
}

Reason support::whyNotRowNorm(nn::RMSNormOp op) {
  return whyNotRows(op.getY(), op.getAxis(), {op.getScale()});
}
