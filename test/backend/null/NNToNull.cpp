//===- NNToNull.cpp - nn-to-null --------------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/NNDialect.h"
#include "passes/support/Rewrite.h"
#include "passes/support/Tensors.h"
#include "test/backend/null/NullBackend.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace ingot {
#define GEN_PASS_DEF_NNTONULL
#include "test/backend/null/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

namespace {

struct ReluPattern : OpRewritePattern<nn::ReluOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::ReluOp op,
                                PatternRewriter &rewriter) const override {
    const Backend &backend = null::getBackend();
    if (Reason reason = whyNotBackend(op, backend.name()))
      return rewriter.notifyMatchFailure(op, *reason);
    if (Reason reason = backend.whyNot(op))
      return rewriter.notifyMatchFailure(op, *reason);
    Value result = op->getResult(0);
    rewriter.replaceOpWithNewOp<null::ReluOp>(
        op, result.getType(), op->getOperand(0),
        support::destinationOf(rewriter, op->getResult(0)));
    return success();
  }
};

struct NNToNullPass : ingot::impl::NNToNullBase<NNToNullPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ReluPattern>(&getContext());
    rewriteInOneWalk(getOperation(), std::move(patterns));
  }
};

} // namespace
