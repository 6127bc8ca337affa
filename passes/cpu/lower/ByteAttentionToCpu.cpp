//===- ByteAttentionToCpu.cpp - attention of bytes to a kernel ----------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/CpuDialect.h"
#include "dialects/nn/NNDialect.h"
#include "passes/cpu/lower/CpuSupport.h"
#include "passes/cpu/lower/NNToCpu.h"
#include "passes/kernel/AttentionMatch.h"
#include "passes/support/Rewrite.h"
#include "passes/support/Tensors.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ingot;
using support::typeOf;

namespace {
struct ByteAttentionPattern : OpRewritePattern<nn::ByteAttentionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::ByteAttentionOp op,
                                PatternRewriter &rewriter) const override;
};
} // namespace

static bool isSigned(Value bytes) {
  return !typeOf(bytes).getElementType().isUnsignedInteger();
}

static cpu::AttentionBytesAttr numbersOf(nn::ByteAttentionOp op) {
  return cpu::AttentionBytesAttr::get(
      op.getContext(), isSigned(op.getQ()), isSigned(op.getK()),
      isSigned(op.getV()), op.getQZeroPoint(), op.getKZeroPoint(),
      op.getVZeroPoint(), op.getProductScaleAttr(), op.getProductRoundingAttr(),
      op.getScoreRoundingAttr(), op.getMaskedRoundingAttr(), op.getPScaleAttr(),
      op.getPMost(), op.getResultScaleAttr());
}

LogicalResult
ByteAttentionPattern::matchAndRewrite(nn::ByteAttentionOp op,
                                      PatternRewriter &rewriter) const {
  if (Reason reason = cpu::whyNotToCpu(op))
    return rewriter.notifyMatchFailure(op, *reason);
  Location loc = op.getLoc();
  RankedTensorType type = op.getType();
  auto bytes = [&](Value value) {
    return support::castElements(rewriter, loc, value, rewriter.getI8Type());
  };
  Value mask = op.getMask();
  if (mask)
    mask = kernel::queriesLast(rewriter, loc, mask, /*rank=*/4);
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, loc, op.getQ());
  sizes.back() = tensor::getMixedSize(rewriter, loc, op.getV(), 3);
  Value destination =
      tensor::EmptyOp::create(rewriter, loc, sizes, type.getElementType());
  type = typeOf(destination);
  auto attention = cpu::AttentionOp::create(
      rewriter, loc, type, bytes(op.getQ()), bytes(op.getK()), bytes(op.getV()),
      mask, /*epilogue_operands=*/ValueRange(), destination, op.getScaleAttr(),
      /*safe=*/UnitAttr(), numbersOf(op), /*schedule=*/{});
  cpu::buildEpilogue(rewriter, loc, attention.getEpilogue(),
                     type.getElementType(), /*hasBias=*/false);
  Value y = attention.getResult();
  if (type != op.getType())
    y = tensor::CastOp::create(rewriter, loc, op.getType(), y);
  rewriter.replaceOp(op, y);
  return success();
}

void cpu::populateByteAttentionToCpu(RewritePatternSet &patterns) {
  patterns.add<ByteAttentionPattern>(patterns.getContext());
}
