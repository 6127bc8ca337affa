//===- NNToCuda.cpp - nn-to-cuda ------------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/lower/NNToCuda.h"
#include "dialects/cuda/CudaDialect.h"
#include "dialects/ingot/IngotDialect.h"
#include "dialects/nn/Constants.h"
#include "dialects/nn/NNDialect.h"
#include "passes/cuda/lower/CudaSupport.h"
#include "passes/cuda/lower/Passes.h"
#include "passes/support/ConstantPacker.h"
#include "passes/support/Convolutions.h"
#include "passes/support/Rewrite.h"
#include "passes/support/Tensors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

namespace ingot {
#define GEN_PASS_DEF_NNTOCUDA
#include "passes/cuda/lower/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using support::typeOf;

Type cuda::factorType(Operation *op) {
  Builder builder(op->getContext());
  if (isBF16(op))
    return builder.getBF16Type();
  return isFP16(op) ? Type(builder.getF16Type()) : builder.getF32Type();
}

/// Returns the elements of a row of weights of `depth` elements. Rows are
/// padded to a multiple of the widest copy.
static int64_t paddedDepth(int64_t depth, Type element) {
  return int64_t(
      llvm::alignTo(uint64_t(depth),
                    uint64_t(cuda::kAccessBytes / nn::elementBytes(element))));
}

/// Packs weights `O, C, K1…Kn` as `O, K'`: the channels of each tap.
static ElementsAttr packTaps(ElementsAttr weights, Type element) {
  ArrayRef<int64_t> shape = weights.getShapedType().getShape();
  const int64_t outputs = shape[0], channels = shape[1],
                taps = support::productOf(shape.drop_front(2)),
                depth = paddedDepth(channels * taps, element);
  support::ConstantPacker packer(weights, {outputs, depth}, element);
  if (!packer.isValid())
    return {};
  for (int64_t o = 0; o < outputs; ++o)
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t t = 0; t < taps; ++t)
        packer.copy((o * channels + c) * taps + t,
                    o * depth + t * channels + c);
  return packer.take();
}

/// Packs weights `O, 1, K1…Kn` as `K1…Kn, O`.
static ElementsAttr packChannels(ElementsAttr weights, Type element) {
  ArrayRef<int64_t> shape = weights.getShapedType().getShape();
  const int64_t channels = shape[0],
                taps = support::productOf(shape.drop_front(2));
  SmallVector<int64_t> packed(shape.drop_front(2));
  packed.push_back(channels);
  support::ConstantPacker packer(weights, packed, element);
  if (!packer.isValid())
    return {};
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t t = 0; t < taps; ++t)
      packer.copy(c * taps + t, t * channels + c);
  return packer.take();
}

ElementsAttr cuda::packColumns(ElementsAttr weights, bool transposed,
                               Type element) {
  SmallVector<int64_t> shape(weights.getShapedType().getShape());
  if (!transposed)
    std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
  const int64_t columns = shape[shape.size() - 2], depth = shape.back(),
                padded = paddedDepth(depth, element),
                matrices = support::productOf(ArrayRef(shape).drop_back(2));
  shape.back() = padded;
  support::ConstantPacker packer(weights, shape, element);
  if (!packer.isValid())
    return {};
  for (int64_t m = 0; m < matrices; ++m)
    for (int64_t n = 0; n < columns; ++n)
      for (int64_t k = 0; k < depth; ++k)
        packer.copy(m * columns * depth +
                        (transposed ? n * depth + k : k * columns + n),
                    (m * columns + n) * padded + k);
  return packer.take();
}

/// Gives the product an epilogue that adds the bias, if there is one.
static void buildEpilogue(OpBuilder &b, Location loc, Region &region,
                          bool hasBias) {
  OpBuilder::InsertionGuard guard(b);
  Block *body = b.createBlock(&region);
  Value sum = body->addArgument(b.getF32Type(), loc);
  if (hasBias)
    sum = arith::AddFOp::create(b, loc, sum,
                                body->addArgument(b.getF32Type(), loc));
  cuda::YieldOp::create(b, loc, sum);
}

namespace {

struct ConvPattern : OpRewritePattern<nn::ConvOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::ConvOp op,
                                PatternRewriter &rewriter) const override;
};

struct MatMulPattern : OpRewritePattern<nn::MatMulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::MatMulOp op,
                                PatternRewriter &rewriter) const override;
};

struct NNToCudaPass : ingot::impl::NNToCudaBase<NNToCudaPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ConvPattern, MatMulPattern>(&getContext());
    cuda::populateReductionsToCuda(patterns);
    cuda::populateResampleToCuda(patterns);
    cuda::populateRowsToCuda(patterns);
    cuda::populateScanToCuda(patterns);
    cuda::populateScatterToCuda(patterns);
    cuda::populateTopKToCuda(patterns);
    rewriteInOneWalk(getOperation(), std::move(patterns));
  }
};

} // namespace

LogicalResult ConvPattern::matchAndRewrite(nn::ConvOp op,
                                           PatternRewriter &rewriter) const {
  if (Reason reason = cuda::whyNotToCuda(op))
    return rewriter.notifyMatchFailure(op, *reason);
  Location loc = op.getLoc();
  RankedTensorType type = op.getY().getType();
  Type element = cuda::factorType(op);
  const bool isDepthwise = support::hasSingleChannels(op);
  ElementsAttr constant = nn::getConstant(op.getW());
  ElementsAttr packed = isDepthwise ? packChannels(constant, element)
                                    : packTaps(constant, element);
  if (!packed)
    return rewriter.notifyMatchFailure(op, "has weights without bytes");
  Value weights =
      arith::ConstantOp::create(rewriter, op.getW().getLoc(), packed);
  SmallVector<Value> operands;
  if (op.getBias())
    operands.push_back(
        support::expandVector(rewriter, op.getBias(), type.getRank()));
  Value src = support::castElements(rewriter, loc, op.getX(), element);
  Value dst = support::destinationOf(rewriter, op->getResult(0));
  if (isDepthwise) {
    auto conv = cuda::DepthwiseConvOp::create(rewriter, loc, type, src, weights,
                                              operands, dst, op.getStrides(),
                                              op.getPads(), op.getDilations());
    buildEpilogue(rewriter, loc, conv.getEpilogue(), bool(op.getBias()));
    rewriter.replaceOp(op, conv);
    return success();
  }
  auto product = cuda::ConvOp::create(
      rewriter, loc, type, src, weights, operands, dst,
      typeOf(op.getW()).getShape().drop_front(2), op.getStrides(), op.getPads(),
      op.getDilations(), op.getGroups(), /*tf32=*/isTF32(op),
      /*parts=*/1, /*schedule=*/cuda::ScheduleAttr());
  buildEpilogue(rewriter, loc, product.getEpilogue(), bool(op.getBias()));
  rewriter.replaceOp(op, product);
  return success();
}

LogicalResult MatMulPattern::matchAndRewrite(nn::MatMulOp op,
                                             PatternRewriter &rewriter) const {
  if (Reason reason = cuda::whyNotToCuda(op))
    return rewriter.notifyMatchFailure(op, *reason);
  Location loc = op.getLoc();
  RankedTensorType type = op.getY().getType();
  Type element = cuda::factorType(op);
  auto swapLast = [&](Value matrix) {
    auto perm = llvm::to_vector(llvm::seq<int64_t>(typeOf(matrix).getRank()));
    std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
    return support::transpose(rewriter, loc, matrix, perm);
  };
  Value weights;
  if (ElementsAttr constant = nn::getConstant(op.getB())) {
    ElementsAttr packed =
        cuda::packColumns(constant, op.getTransposeB(), element);
    if (!packed)
      return rewriter.notifyMatchFailure(op, "has weights without bytes");
    weights = arith::ConstantOp::create(rewriter, op.getB().getLoc(), packed);
  } else {
    weights = support::castElements(rewriter, loc, op.getB(), element);
    if (!op.getTransposeB())
      weights = swapLast(weights);
  }
  Value src = support::castElements(rewriter, loc, op.getA(), element);
  if (op.getTransposeA())
    src = swapLast(src);
  Value bias = op.getBias();
  const bool isVector = bias && typeOf(bias).getRank() == 1 &&
                        typeOf(bias).getShape() == type.getShape().take_back();
  SmallVector<Value> operands;
  if (isVector)
    operands.push_back(support::expandVector(rewriter, bias, type.getRank()));
  auto product = cuda::MatMulOp::create(
      rewriter, loc, type, src, weights, operands,
      support::destinationOf(rewriter, op->getResult(0)),
      /*tf32=*/isTF32(op), /*parts=*/1, /*schedule=*/cuda::ScheduleAttr());
  buildEpilogue(rewriter, loc, product.getEpilogue(), isVector);
  Value result = product.getResult();
  if (bias && !isVector)
    result = nn::AddOp::create(rewriter, loc, type, result, bias);
  rewriter.replaceOp(op, result);
  return success();
}
