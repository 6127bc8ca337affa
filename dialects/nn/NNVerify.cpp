//===- NNVerify.cpp - constraints beyond inferred types -------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/NNDialect.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ingot::nn;

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

static int64_t channelsOf(Value x, bool channelsLast) {
  RankedTensorType type = typeOf(x);
  return type.getDimSize(channelsLast ? type.getRank() - 1 : 1);
}

/// `value` has one dimension, of `size` elements (if both are known).
static LogicalResult verifyVector(Operation *op, StringRef name, Value value,
                                  int64_t size) {
  RankedTensorType type = typeOf(value);
  if (type.getRank() != 1)
    return op->emitOpError("expects ")
           << name << " of rank 1, but got " << type.getRank();
  if (!type.isDynamicDim(0) && !ShapedType::isDynamic(size) &&
      type.getDimSize(0) != size)
    return op->emitOpError("expects ") << name << " of " << size
                                       << " elements, but got "
                                       << type.getDimSize(0);
  return success();
}

LogicalResult ConvOp::verify() {
  if (!getBias())
    return success();
  return verifyVector(*this, "bias", getBias(), typeOf(getW()).getDimSize(0));
}

LogicalResult ConvTransposeOp::verify() {
  if (!getBias())
    return success();
  return verifyVector(*this, "bias", getBias(),
                      channelsOf(getY(), getChannelsLast()));
}

LogicalResult ArgReduceOp::verify() {
  if (getKind() != ReduceKind::max && getKind() != ReduceKind::min)
    return emitOpError("expects kind max or min, but got ")
           << stringifyReduceKind(getKind());
  return success();
}

LogicalResult BatchNormOp::verify() {
  if (typeOf(getX()).getRank() < 2)
    return emitOpError("expects data of rank 2 or more, but got ")
           << typeOf(getX()).getRank();
  int64_t channels = channelsOf(getX(), getChannelsLast());
  return failure(
      failed(verifyVector(*this, "scale", getScale(), channels)) ||
      failed(verifyVector(*this, "bias", getBias(), channels)) ||
      failed(verifyVector(*this, "mean", getMean(), channels)) ||
      failed(verifyVector(*this, "variance", getVariance(), channels)));
}

LogicalResult GroupNormOp::verify() {
  if (typeOf(getX()).getRank() < 2)
    return emitOpError("expects data of rank 2 or more, but got ")
           << typeOf(getX()).getRank();
  int64_t channels = channelsOf(getX(), getChannelsLast());
  int64_t groups = getGroups();
  if (groups < 1 || (!ShapedType::isDynamic(channels) && channels % groups))
    return emitOpError("expects groups to divide ")
           << channels << " channels, but got " << groups;
  return failure(failed(verifyVector(*this, "scale", getScale(), channels)) ||
                 failed(verifyVector(*this, "bias", getBias(), channels)));
}

static LogicalResult verifyAxis(Operation *op, int64_t axis, Value x) {
  int64_t rank = typeOf(x).getRank();
  if (axis < 0 || axis >= rank)
    return op->emitOpError("expects an axis in [0, ")
           << rank << "), but got " << axis;
  return success();
}

LogicalResult LayerNormOp::verify() {
  return verifyAxis(*this, getAxis(), getX());
}
LogicalResult RMSNormOp::verify() {
  return verifyAxis(*this, getAxis(), getX());
}
LogicalResult SoftmaxOp::verify() {
  return verifyAxis(*this, getAxis(), getX());
}

LogicalResult PadOp::verify() {
  if (getMode() != PadMode::constant && getValue())
    return emitOpError("expects no value in mode ") << stringifyPadMode(getMode());
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
  if (x.hasStaticShape() && y.hasStaticShape() &&
      x.getNumElements() != y.getNumElements())
    return emitOpError("expects ")
           << x.getNumElements() << " elements, but got " << y.getNumElements();
  return success();
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

/// scale, and zero_point if there, are scalars or vectors along the axis.
template <typename Op>
static LogicalResult verifyQuantization(Op op) {
  RankedTensorType x = typeOf(op.getX());
  if (failed(verifyCompatibleShape(x, op.getY().getType())))
    return op.emitOpError("expects operand and result of one shape");
  RankedTensorType scale = typeOf(op.getScale());
  if (scale.getRank() == 0)
    return success();
  if (failed(verifyAxis(op, op.getAxis(), op.getX())))
    return failure();
  int64_t channels = x.getDimSize(op.getAxis());
  if (failed(verifyVector(op, "scale", op.getScale(), channels)))
    return failure();
  if (Value zero = op.getZeroPoint())
    return verifyVector(op, "zero_point", zero, channels);
  return success();
}

LogicalResult QuantizeOp::verify() { return verifyQuantization(*this); }
LogicalResult DequantizeOp::verify() { return verifyQuantization(*this); }
