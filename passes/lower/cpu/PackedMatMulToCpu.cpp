//===- PackedMatMulToCpu.cpp - products with weights of few bits ----------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/CpuDialect.h"
#include "dialects/nn/NNDialect.h"
#include "passes/lower/cpu/NNToCpu.h"
#include "passes/lower/cpu/NativeSupport.h"
#include "passes/lower/cpu/PackBlocks.h"
#include "passes/support/Lowering.h"
#include "passes/support/Shapes.h"
#include "passes/support/Tensors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace ingot;
using lower::typeOf;

namespace {

struct PackedMatMulPattern : OpRewritePattern<nn::PackedMatMulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::PackedMatMulOp op,
                                PatternRewriter &rewriter) const override;
};

} // namespace

LogicalResult
PackedMatMulPattern::matchAndRewrite(nn::PackedMatMulOp op,
                                     PatternRewriter &rewriter) const {
  RankedTensorType type = op.getY().getType();
  if (Reason reason = lower::whyNotToCpu(op))
    return rewriter.notifyMatchFailure(op, *reason);
  std::optional<lower::PackedBlocks> packed = lower::packBlocks(op);
  if (!packed)
    return rewriter.notifyMatchFailure(op, lower::kNoBytes);
  Location loc = op.getLoc();
  auto constant = [&](ElementsAttr attr) -> Value {
    return attr ? arith::ConstantOp::create(rewriter, op.getCodes().getLoc(),
                                            attr)
                : Value();
  };
  Value destination = lower::createEmpty(
      rewriter, loc, type,
      lower::dynamicSizesLike(rewriter, loc, type, op.getA()));
  auto product = cpu::PackedMatMulOp::create(
      rewriter, loc, type, op.getA(), constant(packed->words),
      constant(packed->scales), constant(packed->zeroPoints),
      /*epilogue_operands=*/ValueRange(), destination, op.getBits(),
      op.getBlockSize(), /*schedule=*/{});
  lower::buildEpilogue(rewriter, loc, product.getEpilogue(),
                       type.getElementType(), /*hasBias=*/false);
  rewriter.replaceOp(op, product.getResult());
  return success();
}

void lower::populatePackedMatMulToCpu(RewritePatternSet &patterns) {
  patterns.add<PackedMatMulPattern>(patterns.getContext());
}
