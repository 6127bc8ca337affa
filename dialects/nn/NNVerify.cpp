//===- NNVerify.cpp - constraints beyond inferred types -------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/InferTypes.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ingot::nn;

/// What the sizes that are known say.
template <typename Op> static LogicalResult verifySizes(Op op) {
  SizeRules rules(op->getContext(), op->getLoc());
  SmallVector<SizedType> results;
  return op.inferSizes(rules, results);
}

LogicalResult ArgReduceOp::verify() {
  if (getKind() != ReduceKind::max && getKind() != ReduceKind::min)
    return emitOpError("expects kind max or min, but got ")
           << stringifyReduceKind(getKind());
  return success();
}

LogicalResult PadOp::verify() {
  if (getMode() != PadMode::constant && getValue())
    return emitOpError("expects no value in mode ")
           << stringifyPadMode(getMode());
  if (getMode() == PadMode::constant && !getValue())
    return emitOpError("expects a value in mode constant");
  if (getValue() && typeOf(getValue()).getRank() != 0)
    return emitOpError("expects a scalar value, but got ")
           << getValue().getType();
  return success();
}

LogicalResult ReshapeOp::verify() {
  RankedTensorType x = typeOf(getX()), y = typeOf(getY());
  if (x.getElementType() != y.getElementType())
    return emitOpError("expects equal element types");
  if (y.getNumDynamicDims() > 1)
    return emitOpError("expects at most one dynamic result dimension, but got ")
           << y.getNumDynamicDims();
  return verifySizes(*this);
}

LogicalResult BroadcastToOp::verify() {
  RankedTensorType x = typeOf(getX()), y = typeOf(getY());
  if (getSizes().size() != size_t(y.getNumDynamicDims()))
    return emitOpError("expects ") << y.getNumDynamicDims()
                                   << " sizes, but got " << getSizes().size();
  auto shape = broadcastShapes({x.getShape(), y.getShape()});
  if (x.getElementType() != y.getElementType() || !shape ||
      int64_t(shape->size()) != y.getRank())
    return emitOpError("cannot broadcast ") << x << " to " << y;
  for (auto [want, got] : llvm::zip_equal(y.getShape(), *shape))
    if (!ShapedType::isDynamic(want) && !ShapedType::isDynamic(got) &&
        want != got)
      return emitOpError("cannot broadcast ") << x << " to " << y;
  return success();
}

LogicalResult ResizeOp::verify() {
  RankedTensorType x = typeOf(getX()), y = typeOf(getY());
  if (x.getRank() != y.getRank() || int64_t(getScales().size()) != x.getRank())
    return emitOpError("expects one scale a dimension of operand and result");
  for (float scale : getScales())
    if (!(scale > 0))
      return emitOpError("expects positive scales, but got ") << scale;
  return success();
}

template <typename Op> static LogicalResult verifyQuantization(Op op) {
  if (failed(verifyCompatibleShape(op.getX().getType(), op.getY().getType())))
    return op.emitOpError("expects operand and result of one shape");
  return verifySizes(op);
}

LogicalResult QuantizeOp::verify() { return verifyQuantization(*this); }
LogicalResult DequantizeOp::verify() { return verifyQuantization(*this); }
