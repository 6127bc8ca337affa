//===- FoldAffine.cpp - nn-fold-affine ------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/Passes.h"
#include "passes/graph/Affine.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace ingot {
#define GEN_PASS_DEF_FOLDAFFINE
#include "passes/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::graph;

namespace {

template <typename Op>
struct FoldAffine : OpRewritePattern<Op> {
  FoldAffine(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern<Op>(context), count(count) {}

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    if (failed(foldIntoProducer(rewriter, op)))
      return failure();
    ++count;
    return success();
  }
  Pass::Statistic &count;
};

struct FoldAffinePass : ingot::impl::FoldAffineBase<FoldAffinePass> {
  using FoldAffineBase::FoldAffineBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FoldAffine<nn::AddOp>, FoldAffine<nn::SubOp>,
                 FoldAffine<nn::MulOp>, FoldAffine<nn::DivOp>>(&getContext(),
                                                               numFolded);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
