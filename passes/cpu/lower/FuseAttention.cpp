//===- FuseAttention.cpp - nn-fuse-attention ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/CpuDialect.h"
#include "dialects/ingot/IngotDialect.h"
#include "dialects/nn/Constants.h"
#include "dialects/nn/NNDialect.h"
#include "passes/cpu/lower/CpuSupport.h"
#include "passes/cpu/lower/NNToCpu.h"
#include "passes/cpu/lower/Passes.h"
#include "passes/cpu/policy/Levels.h"
#include "passes/kernel/AttentionMatch.h"
#include "passes/shape/SameSizes.h"
#include "passes/support/Reason.h"
#include "passes/support/Rewrite.h"
#include "passes/support/Tensors.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace ingot {
#define GEN_PASS_DEF_FUSEATTENTION
#include "passes/cpu/lower/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using kernel::AttentionMatch;
using support::typeOf;

namespace {

struct AttentionPattern : OpRewritePattern<nn::MatMulOp> {
  AttentionPattern(MLIRContext *context, shape::SameSizes &sizes)
      : OpRewritePattern(context), sizes(sizes) {}

  LogicalResult matchAndRewrite(nn::MatMulOp op,
                                PatternRewriter &rewriter) const override;

  shape::SameSizes &sizes;
};

struct FuseAttentionPass : ingot::impl::FuseAttentionBase<FuseAttentionPass> {
  using FuseAttentionBase::FuseAttentionBase;

  void runOnOperation() override {
    shape::SameSizes sizes(getOperation());
    RewritePatternSet patterns(&getContext());
    patterns.add<AttentionPattern>(&getContext(), sizes);
    cpu::populateByteAttentionToCpu(patterns);
    rewriteInOneWalk(getOperation(), std::move(patterns));
    if (!orF32 || !cpu::allMultiplyBF16(getOperation()))
      return;
    IngotDialect::PrecisionAttrHelper precision(&getContext());
    getOperation().walk([&](nn::MatMulOp op) {
      if (isBF16(op) && !nn::getConstant(op.getB()))
        precision.removeAttr(op);
    });
  }
};

} // namespace

/// Returns true for a product of open size that no backend takes, because it
/// has no kernel alone. The attention kernel supports such products.
static bool isLeftForLoops(Operation *op) {
  return isa<nn::MatMulOp>(op) && !whyNotBackend(op, kernel::kLoopsBackend) &&
         cpu::whyNotCpuKernel(op);
}

/// Says why the kernel does not take the ops of `match`. Either another backend
/// computes one of them, or a type is not f32.
static Reason whyNotOps(AttentionMatch &match) {
  for (Operation *op :
       {match.scores.getOperation(), match.softmax.getOperation(),
        match.result.getOperation()}) {
    Reason other = whyNotBackend(op, cpu::kBackend);
    if (other && !isLeftForLoops(op))
      return other;
    if (Reason reason = whyNotFloat32(op))
      return reason;
  }
  return std::nullopt;
}

/// Says why the kernel cannot hold the heads of `match`.
static Reason whyNotHeads(AttentionMatch &match) {
  RankedTensorType q = typeOf(match.scores.getA()),
                   k = typeOf(match.scores.getB()),
                   v = typeOf(match.result.getB());
  int64_t rank = q.getRank();
  if (rank == 4 && ShapedType::isDynamic(q.getDimSize(1)))
    return "has an open number of heads: " + describe(q);
  auto fits = [](int64_t size) {
    return !ShapedType::isDynamic(size) && size % 16 == 0 && size > 0 &&
           size <= cpu::kMaxHeadSize;
  };
  if (k.getDimSize(rank - 2) == 0 || !fits(q.getShape().back()) ||
      !fits(v.getShape().back()))
    return "has no keys, or heads whose size the kernel does not support: " +
           describe(k) + ", " + describe(v);
  return std::nullopt;
}

LogicalResult
AttentionPattern::matchAndRewrite(nn::MatMulOp op,
                                  PatternRewriter &rewriter) const {
  AttentionMatch match;
  if (Reason reason = match.match(op))
    return rewriter.notifyMatchFailure(op, *reason);
  if (Reason reason = whyNotOps(match))
    return rewriter.notifyMatchFailure(op, *reason);
  if (Reason reason = match.whyNotOneKernel(sizes))
    return rewriter.notifyMatchFailure(op, *reason);
  if (Reason reason = whyNotHeads(match))
    return rewriter.notifyMatchFailure(op, *reason);
  Location loc = FusedLoc::get(getContext(),
                               llvm::to_vector(llvm::reverse(match.locations)));
  auto [q, k, v, mask, scale] = match.buildOperands(rewriter);
  sizes.forget(op);
  SmallVector<OpFoldResult> dims = tensor::getMixedSizes(rewriter, loc, q);
  dims.back() = tensor::getMixedSize(rewriter, loc, v, 3);
  Value destination = tensor::EmptyOp::create(rewriter, loc, dims,
                                              typeOf(v).getElementType());
  RankedTensorType type = typeOf(destination);
  auto kernel = cpu::AttentionOp::create(
      rewriter, loc, type, q, k, v, mask, ValueRange(), destination,
      rewriter.getF32FloatAttr(float(scale)),
      match.isSafe ? rewriter.getUnitAttr() : UnitAttr(), /*bytes=*/{},
      /*schedule=*/{});
  IngotDialect::PrecisionAttrHelper precision(getContext());
  if (isBF16(op) && isBF16(match.scores))
    precision.setAttr(kernel, precision.getAttr(op));
  {
    OpBuilder::InsertionGuard guard(rewriter);
    Block *body = rewriter.createBlock(&kernel.getEpilogue());
    cpu::YieldOp::create(
        rewriter, loc,
        ValueRange{body->addArgument(type.getElementType(), loc)});
  }
  match.replaceBy(rewriter, kernel.getResult(), dims);
  return success();
}
