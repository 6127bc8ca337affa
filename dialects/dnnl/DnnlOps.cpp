//===- DnnlOps.cpp - verifiers and effects of dnnl ops --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/dnnl/DnnlDialect.h"
#include "dialects/kernel/Verify.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ingot::dnnl;
using namespace ingot::kernel;

#define GET_OP_CLASSES
#include "dialects/dnnl/DnnlOps.cpp.inc"

bool ingot::dnnl::hasSum(Operation *op) {
  auto postOps = dyn_cast<PostOpInterface>(op);
  return postOps && llvm::any_of(postOps.getPostOps(), llvm::IsaPred<SumAttr>);
}

//===----------------------------------------------------------------------===//
// Effects
//===----------------------------------------------------------------------===//

void ConvolutionOp::getEffects(Effects &effects) {
  collectEffects(*this, effects, hasSum(*this));
}
void DeconvolutionOp::getEffects(Effects &effects) {
  collectEffects(*this, effects, hasSum(*this));
}
void MatMulOp::getEffects(Effects &effects) {
  collectEffects(*this, effects, hasSum(*this));
}
void PoolingOp::getEffects(Effects &effects) {
  collectEffects(*this, effects, hasSum(*this));
}
void SoftmaxOp::getEffects(Effects &effects) {
  collectEffects(*this, effects, hasSum(*this));
}
void LayerNormOp::getEffects(Effects &effects) {
  collectEffects(*this, effects, hasSum(*this));
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

static LogicalResult expectVector(Operation *op, StringRef what, Value value,
                                  int64_t size) {
  if (!value)
    return success();
  if (typeOf(value).getRank() != 1)
    return op->emitOpError("expects ")
           << what << " of rank 1, but got " << typeOf(value).getRank();
  return expectSize(op, what, size, typeOf(value).getDimSize(0));
}

static LogicalResult expectSameRank(Operation *op, Value a, Value b,
                                    int64_t least) {
  int64_t rankA = typeOf(a).getRank(), rankB = typeOf(b).getRank();
  if (rankA != rankB)
    return op->emitOpError("expects operands of one rank, but got ")
           << rankA << " and " << rankB;
  if (rankA < least)
    return op->emitOpError("expects rank ")
           << least << " or more, but got " << rankA;
  return success();
}

static LogicalResult verifyPostOps(PostOpInterface op, Value dst) {
  int64_t count = op.getPostOperands().size();
  for (Attribute postOp : op.getPostOps()) {
    auto binary = dyn_cast<BinaryAttr>(postOp);
    if (binary && (binary.getOperand() < 0 || binary.getOperand() >= count))
      return op->emitOpError("has ")
             << count << " post-op operands, but post-op " << postOp
             << " uses number " << binary.getOperand();
  }
  return verifyBroadcast(op, "post-op", op.getPostOperands(), dst);
}

/// Verifies a convolution or a transposed convolution. According to the
/// weights, dst has `outputs` channels.
template <typename Op>
static LogicalResult verifyConvolution(Op op, int64_t inputs, int64_t outputs) {
  int64_t rank = typeOf(op.getSrc()).getRank();
  if (failed(expectCount(op, "strides", op.getStrides(), rank - 2)) ||
      failed(expectCount(op, "dilations", op.getDilations(), rank - 2)) ||
      failed(expectCount(op, "pads", op.getPads(), 2 * (rank - 2))) ||
      failed(expectSize(op, "src channels", inputs,
                        typeOf(op.getSrc()).getDimSize(rank - 1))) ||
      failed(expectSize(op, "dst channels", outputs,
                        typeOf(op.getDst()).getDimSize(rank - 1))) ||
      failed(expectSize(op, "dst batch", typeOf(op.getSrc()).getDimSize(0),
                        typeOf(op.getDst()).getDimSize(0))) ||
      failed(expectVector(op, "bias", op.getBias(), outputs)) ||
      failed(verifyDst(op, op.getDst())))
    return failure();
  return verifyPostOps(op, op.getDst());
}

static int64_t timesGroups(int64_t size, int64_t groups) {
  return ShapedType::isDynamic(size) ? size : size * groups;
}

template <typename Op>
static LogicalResult verifyRanks(Op op) {
  if (failed(expectSameRank(op, op.getSrc(), op.getWeights(), 3)) ||
      failed(expectSameRank(op, op.getSrc(), op.getDst(), 3)))
    return failure();
  if (int64_t(op.getGroups()) < 1)
    return op.emitOpError("expects groups of at least 1, but got ")
           << int64_t(op.getGroups());
  return success();
}

LogicalResult ConvolutionOp::verify() {
  if (failed(verifyRanks(*this)))
    return failure();
  ShapedType weights = typeOf(getWeights());
  return verifyConvolution(
      *this, timesGroups(weights.getDimSize(1), getGroups()),
      weights.getDimSize(0));
}

LogicalResult DeconvolutionOp::verify() {
  if (failed(verifyRanks(*this)))
    return failure();
  ShapedType weights = typeOf(getWeights());
  return verifyConvolution(
      *this, weights.getDimSize(0),
      timesGroups(weights.getDimSize(1), getGroups()));
}

LogicalResult MatMulOp::verify() {
  ShapedType src = typeOf(getSrc()), weights = typeOf(getWeights()),
             dst = typeOf(getDst());
  if (src.getRank() < 2 || weights.getRank() < 2)
    return emitOpError("expects operands of rank 2 or more, but got ")
           << src.getRank() << " and " << weights.getRank();
  int64_t rank = std::max(src.getRank(), weights.getRank());
  if (dst.getRank() != rank)
    return emitOpError("expects dst of rank ")
           << rank << ", but got " << dst.getRank();
  auto fromEnd = [](ShapedType type, int64_t i) {
    return type.getDimSize(type.getRank() - i);
  };
  bool flipA = getTransposeSrc(), flipB = getTransposeWeights();
  if (failed(expectSize(*this, "inner dimension", fromEnd(src, flipA ? 2 : 1),
                        fromEnd(weights, flipB ? 1 : 2))) ||
      failed(expectSize(*this, "dst rows", fromEnd(src, flipA ? 1 : 2),
                        fromEnd(dst, 2))) ||
      failed(expectSize(*this, "dst columns",
                        fromEnd(weights, flipB ? 2 : 1), fromEnd(dst, 1))) ||
      failed(expectVector(*this, "bias", getBias(), fromEnd(dst, 1))) ||
      failed(verifyDst(*this, getDst())))
    return failure();
  for (ShapedType type : {src, weights})
    for (int64_t i = 3; i <= type.getRank(); ++i)
      if (fromEnd(type, i) != 1 && !fits(fromEnd(type, i), fromEnd(dst, i)))
        return emitOpError("cannot broadcast batch dimensions of ")
               << type << " to " << dst;
  return verifyPostOps(*this, getDst());
}

LogicalResult PoolingOp::verify() {
  if (failed(expectSameRank(*this, getSrc(), getDst(), 3)))
    return failure();
  ShapedType src = typeOf(getSrc()), dst = typeOf(getDst());
  int64_t rank = src.getRank();
  if (failed(expectCount(*this, "kernel sizes", getKernel(), rank - 2)) ||
      failed(expectCount(*this, "strides", getStrides(), rank - 2)) ||
      failed(expectCount(*this, "dilations", getDilations(), rank - 2)) ||
      failed(expectCount(*this, "pads", getPads(), 2 * (rank - 2))) ||
      failed(expectSize(*this, "dst batch", src.getDimSize(0),
                        dst.getDimSize(0))) ||
      failed(expectSize(*this, "dst channels", src.getDimSize(rank - 1),
                        dst.getDimSize(rank - 1))))
    return failure();
  return verifyDst(*this, getDst());
}

static LogicalResult expectSameShape(Operation *op, Value src, Value dst) {
  if (succeeded(verifyCompatibleShape(src.getType(), dst.getType())))
    return success();
  return op->emitOpError("expects src and dst of one shape, but got ")
         << src.getType() << " and " << dst.getType();
}

LogicalResult SoftmaxOp::verify() {
  if (failed(expectSameShape(*this, getSrc(), getDst())))
    return failure();
  int64_t rank = typeOf(getSrc()).getRank(), axis = getAxis();
  if (axis < 0 || axis >= rank)
    return emitOpError("expects an axis in [0, ") << rank << "), but got "
                                                  << axis;
  return verifyDst(*this, getDst());
}

LogicalResult LayerNormOp::verify() {
  if (failed(expectSameRank(*this, getSrc(), getDst(), 2)) ||
      failed(expectSameShape(*this, getSrc(), getDst())))
    return failure();
  int64_t size = typeOf(getSrc()).getShape().back();
  if (failed(expectVector(*this, "scale", getScale(), size)) ||
      failed(expectVector(*this, "shift", getShift(), size)))
    return failure();
  return verifyDst(*this, getDst());
}
