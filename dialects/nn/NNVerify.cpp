//===- NNVerify.cpp - constraints beyond inferred types -------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/InferTypes.h"
#include "dialects/nn/Scalars.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ingot::nn;

/// Checks the size rules of `op`, as far as sizes are static.
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
    if (!(scale >= 0))
      return emitOpError("expects positive scales, or 0 for what a run "
                         "computes, but got ")
             << scale;
  if (getAntialias() && getMode() == ResizeMode::nearest)
    return emitOpError("expects linear or cubic mode with antialias, but got "
                       "nearest");
  if (getAntialias() && !x.getElementType().isF32())
    return emitOpError("expects f32 with antialias, but got ")
           << x.getElementType();
  int64_t computed = computedBefore(x.getRank());
  for (OperandRange given : {getSizes(), getFactors()})
    if (int64_t(given.size()) != computed)
      return emitOpError("expects ")
             << computed << " sizes and factors, as there are scales of 0, but "
             << "got " << given.size();
  return success();
}

int64_t ResizeOp::computedBefore(int64_t i) {
  return llvm::count(getScales().take_front(i), 0.0f);
}

template <typename Op> static LogicalResult verifyQuantization(Op op) {
  if (failed(verifyCompatibleShape(op.getX().getType(), op.getY().getType())))
    return op.emitOpError("expects operand and result of one shape");
  return verifySizes(op);
}

LogicalResult QuantizeOp::verify() { return verifyQuantization(*this); }
LogicalResult DequantizeOp::verify() { return verifyQuantization(*this); }

LogicalResult DequantizeBlocksOp::verify() {
  RankedTensorType x = typeOf(getX());
  int64_t axis = getAxis(), block = getBlockSize();
  if (axis < 0 || axis >= x.getRank() || block < 1)
    return emitOpError("expects an axis in [0, ")
           << x.getRank() << ") and a block_size of at least 1, but got "
           << axis << " and " << block;
  if (!x.hasStaticShape() || typeOf(getY()).getShape() != x.getShape())
    return emitOpError("expects operand and result of one known shape");
  SmallVector<int64_t> want(x.getShape());
  want[axis] = (want[axis] + block - 1) / block;
  for (Value each : {getScale(), getZeroPoint()})
    if (each && typeOf(each).getShape() != ArrayRef(want))
      return emitOpError("expects a scale and zero point for each block of ")
             << block << " elements along dimension " << axis << ", but got "
             << each.getType();
  return success();
}

LogicalResult PackedMatMulOp::verify() {
  int64_t bits = getBits(), block = getBlockSize(), depth = getDepth();
  if (bits != 2 && bits != 4 && bits != 8)
    return emitOpError("expects 2, 4 or 8 bits, but got ") << bits;
  if (block < 1 || depth < 1)
    return emitOpError("expects a block_size and a depth of at least 1, but "
                       "got ")
           << block << " and " << depth;
  int64_t blocks = (depth + block - 1) / block;
  if (blocks > 1 && block * bits % 8 != 0)
    return emitOpError("expects blocks of whole bytes, but got ")
           << block << " elements of " << bits << " bits";
  RankedTensorType codes = typeOf(getCodes());
  if (!codes.hasStaticShape() ||
      !codes.getElementType().isUnsignedInteger(8) || codes.getRank() != 3)
    return emitOpError("expects codes of ui8 and known size, but got ")
           << codes;
  int64_t columns = codes.getDimSize(0), bytes = (block * bits + 7) / 8;
  if (codes.getDimSize(1) != blocks || codes.getDimSize(2) != bytes)
    return emitOpError("expects codes of ")
           << columns << "x" << blocks << "x" << bytes << ", but got " << codes;
  auto isPerBlock = [&](Value value) {
    return typeOf(value).getShape() == ArrayRef<int64_t>({columns, blocks});
  };
  if (!isPerBlock(getScales()) || !typeOf(getScales()).getElementType().isF32())
    return emitOpError("expects scales of ")
           << columns << "x" << blocks << " of f32, but got "
           << getScales().getType();
  if (!typeOf(getA()).getElementType().isF32())
    return emitOpError("expects data of f32, but got ") << getA().getType();
  Value zeros = getZeroPoints();
  if (!zeros)
    return success();
  Type element = typeOf(zeros).getElementType();
  if (!isPerBlock(zeros) ||
      (!element.isF32() && !element.isUnsignedInteger(8)))
    return emitOpError("expects zero points of ")
           << columns << "x" << blocks << " of ui8 or f32, but got "
           << zeros.getType();
  return success();
}

LogicalResult ByteAttentionOp::verify() {
  for (auto [name, value] :
       {std::pair("q", getQ()), std::pair("k", getK()), std::pair("v", getV())})
    if (Type type = typeOf(value).getElementType(); !isByte(type))
      return emitOpError("expects ") << name << " of bytes, but got " << type;
  if (Value mask = getMask(); mask && !typeOf(mask).getElementType().isF32())
    return emitOpError("expects a mask of f32, but got ") << mask.getType();
  if (getPMost() < 1 || getPMost() > 255)
    return emitOpError("expects p_most from 1 to 255, but got ") << getPMost();
  for (auto [name, scale] : {std::pair("product_scale", getProductScale()),
                             std::pair("p_scale", getPScale()),
                             std::pair("result_scale", getResultScale())})
    if (!scale.isFiniteNonZero() || scale.isNegative())
      return emitOpError("expects a ")
             << name << " above 0, but got " << scale.convertToDouble();
  for (auto [name, rounding] :
       {std::pair("product_rounding", getProductRounding()),
        std::pair("score_rounding", getScoreRounding()),
        std::pair("masked_rounding", getMaskedRounding())})
    if (rounding && (rounding->size() != 3 || !((*rounding)[0] > 0) ||
                     !((*rounding)[1] < (*rounding)[2])))
      return emitOpError("expects a ")
             << name << " of a scale above 0 and two ordered bounds, but got ["
             << *rounding << "]";
  return success();
}
