//===- CudaFuseAttention.cpp - cuda-fuse-attention ------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cuda/CudaDialect.h"
#include "dialects/nn/NNDialect.h"
#include "passes/cuda/lower/CudaSupport.h"
#include "passes/cuda/lower/Passes.h"
#include "passes/kernel/AttentionMatch.h"
#include "passes/shape/SameSizes.h"
#include "passes/support/Rewrite.h"
#include "passes/support/Rules.h"
#include "passes/support/Tensors.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace ingot {
#define GEN_PASS_DEF_CUDAFUSEATTENTION
#include "passes/cuda/lower/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using kernel::AttentionMatch;
using support::typeOf;

namespace {

struct AttentionPattern : OpRewritePattern<nn::MatMulOp> {
  AttentionPattern(MLIRContext *context, shape::SameSizes &sizes,
                   Precision half, const KeepRules &rules)
      : OpRewritePattern(context), sizes(sizes), half(half), rules(rules) {}

  LogicalResult matchAndRewrite(nn::MatMulOp op,
                                PatternRewriter &rewriter) const override;
  Type factorType(const AttentionMatch &match) const;

  shape::SameSizes &sizes;
  Precision half;
  const KeepRules &rules;
};

struct CudaFuseAttentionPass
    : ingot::impl::CudaFuseAttentionBase<CudaFuseAttentionPass> {
  using CudaFuseAttentionBase::CudaFuseAttentionBase;

  void runOnOperation() override {
    shape::SameSizes sizes(getOperation());
    KeepRules rules = KeepRules::again(keep);
    RewritePatternSet patterns(&getContext());
    patterns.add<AttentionPattern>(&getContext(), sizes, half, rules);
    rewriteInOneWalk(getOperation(), std::move(patterns));
    getOperation().walk([&](cuda::AttentionOp) { ++fused; });
  }
};

} // namespace

/// Returns the type of the kernel's factors.
Type AttentionPattern::factorType(const AttentionMatch &match) const {
  Builder builder(getContext());
  if (isBF16(match.scores) && isBF16(match.result))
    return builder.getBF16Type();
  if (half == Precision::fp16 && !rules.find(match.locations).value_or(false))
    return builder.getF16Type();
  return builder.getF32Type();
}

/// Says why the kernel does not take the ops of `match`. Another backend may
/// compute one of them, a type may not be f32, or a size may be open.
static Reason whyNotOps(AttentionMatch &match) {
  for (Operation *op :
       {match.scores.getOperation(), match.softmax.getOperation(),
        match.result.getOperation()}) {
    // Loops compute what has no kernel alone, such as a softmax.
    Reason other = whyNotBackend(op, cuda::kBackend);
    if (other && whyNotBackend(op, kernel::kLoopsBackend))
      return other;
    if (Reason reason = whyNotFloat32(op))
      return reason;
    if (Reason reason = cuda::whyNotCounted(op))
      return reason;
  }
  return std::nullopt;
}

/// Says why the kernel cannot hold the heads of `match`.
static Reason whyNotHeads(AttentionMatch &match) {
  RankedTensorType k = typeOf(match.scores.getB()),
                   v = typeOf(match.result.getB());
  auto fits = [](int64_t size) {
    return !ShapedType::isDynamic(size) && size % 16 == 0 && size > 0 &&
           size <= cuda::AttentionOp::kMaxHeadSize;
  };
  if (k.getDimSize(k.getRank() - 2) == 0 || !fits(k.getShape().back()) ||
      !fits(v.getShape().back()))
    return "has no keys, or larger or odder heads than the kernel holds: " +
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
  const Type element = factorType(match);
  auto [q, k, v, mask, scale] = match.buildOperands(rewriter);
  sizes.forget(op);
  SmallVector<OpFoldResult> dims = tensor::getMixedSizes(rewriter, loc, q);
  dims.back() = tensor::getMixedSize(rewriter, loc, v, 3);
  Type f32 = rewriter.getF32Type();
  Value destination = tensor::EmptyOp::create(rewriter, loc, dims, f32);
  auto attention = cuda::AttentionOp::create(
      rewriter, loc, destination.getType(),
      support::castElements(rewriter, loc, q, element),
      support::castElements(rewriter, loc, k, element),
      support::castElements(rewriter, loc, v, element), mask, ValueRange(),
      destination, rewriter.getF32FloatAttr(float(scale)),
      match.isSafe ? rewriter.getUnitAttr() : UnitAttr(), /*schedule=*/{});
  {
    OpBuilder::InsertionGuard guard(rewriter);
    Block *body = rewriter.createBlock(&attention.getEpilogue());
    cuda::YieldOp::create(rewriter, loc,
                          ValueRange{body->addArgument(f32, loc)});
  }
  match.replaceBy(rewriter, attention.getResult(), dims);
  return success();
}
