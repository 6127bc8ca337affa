//===- FuseElementwise.cpp - fuse-elementwise -----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/lower/linalg/Passes.h"
#include "passes/support/Rewrite.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"

namespace ingot {
#define GEN_PASS_DEF_FUSEELEMENTWISE
#include "passes/lower/linalg/Passes.h.inc"
} // namespace ingot

using namespace mlir;

/// What a polynomial for a function takes.
static constexpr int64_t kFunctionOps = 8;

static int64_t bodyOps(Operation *op) {
  int64_t count = 0;
  if (isa<linalg::LinalgOp>(op))
    for (Operation &inner : op->getRegion(0).getOps())
      count += isa<math::MathDialect>(inner.getDialect()) ? kFunctionOps : 1;
  return count;
}

/// Whether an op that accumulates would do so once for each element that its
/// result is broadcast to.
static bool accumulatesAgain(OpOperand &fused) {
  auto from = fused.get().getDefiningOp<linalg::LinalgOp>();
  auto to = dyn_cast<linalg::LinalgOp>(fused.getOwner());
  return from && to && !to.getMatchingIndexingMap(&fused).isPermutation() &&
         llvm::any_of(from.getDpsInitsMutable(), [&](OpOperand &init) {
           return from.payloadUsesValueFromOperand(&init);
         });
}

namespace {
struct FuseElementwisePass
    : ingot::impl::FuseElementwiseBase<FuseElementwisePass> {
  using FuseElementwiseBase::FuseElementwiseBase;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    auto isOnlyUser = [](OpOperand *fused) {
      Operation *producer = fused->get().getDefiningOp();
      // What stands before a loop or a branch is computed once.
      return producer && producer->hasOneUse() &&
             producer->getBlock() == fused->getOwner()->getBlock();
    };
    auto canFuse = [&](OpOperand *fused) {
      return isOnlyUser(fused) &&
             !accumulatesAgain(*fused) &&
             bodyOps(fused->get().getDefiningOp()) +
                     bodyOps(fused->getOwner()) <=
                 mostOps;
    };
    RewritePatternSet patterns(context);
    linalg::populateElementwiseOpsFusionPatterns(patterns, canFuse);
    linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, isOnlyUser);
    tensor::populateBubbleUpExpandShapePatterns(patterns);
    affine::AffineApplyOp::getCanonicalizationPatterns(patterns, context);
    linalg::GenericOp::getCanonicalizationPatterns(patterns, context);
    tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, context);
    tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, context);
    context->getLoadedDialect<linalg::LinalgDialect>()
        ->getCanonicalizationPatterns(patterns);
    linalg::populateConstantFoldLinalgOperations(patterns, isOnlyUser);
    GreedyRewriteConfig config;
    config.setUseTopDownTraversal();
    if (failed(ingot::rewriteGreedily(getOperation(), std::move(patterns),
                               getArgument(), config)))
      signalPassFailure();
  }
};
} // namespace
