//===- Canonicalize.cpp - ingot-canonicalize ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/support/Passes.h"
#include "passes/support/Rewrite.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

namespace ingot {
#define GEN_PASS_DEF_CANONICALIZE
#include "passes/support/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

namespace {

/// Replaces cast operands by their sources in an op with an empty region.
/// MLIR's own pattern cannot do this, because it clones the op. Cloning reads
/// the region's first block, which an empty region does not have.
struct TakeCastSources
    : OpInterfaceRewritePattern<DestinationStyleOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(DestinationStyleOpInterface op,
                                PatternRewriter &rewriter) const override {
    if (llvm::none_of(op->getRegions(), [](Region &r) { return r.empty(); }))
      return rewriter.notifyMatchFailure(op, "has no empty region");
    if (!tensor::hasFoldableTensorCastOperand(op))
      return rewriter.notifyMatchFailure(op, "takes no cast");
    SmallVector<Type> types(op->getResultTypes());
    SmallVector<Value> operands =
        tensor::getUpdatedOperandsAfterCastOpFolding(op, types);
    rewriter.modifyOpInPlace(op, [&] { op->setOperands(operands); });
    rewriter.setInsertionPointAfter(op);
    for (auto [i, type] : llvm::enumerate(types)) {
      Value result = op->getResult(i);
      Type before = result.getType(), after = type;
      if (before == after)
        continue;
      rewriter.modifyOpInPlace(op, [&] { result.setType(after); });
      auto cast = tensor::CastOp::create(rewriter, op.getLoc(), before, result);
      rewriter.replaceAllUsesExcept(result, cast, cast);
    }
    return success();
  }
};

struct CanonicalizePass : ingot::impl::CanonicalizeBase<CanonicalizePass> {
  using CanonicalizeBase::CanonicalizeBase;

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet all(context);
    for (Dialect *dialect : context->getLoadedDialects())
      dialect->getCanonicalizationPatterns(all);
    for (RegisteredOperationName op : context->getRegisteredOperations())
      op.getCanonicalizationPatterns(all, context);
    all.add<TakeCastSources>(context, /*benefit=*/2);
    patterns = std::move(all);
    return success();
  }

  void runOnOperation() override {
    GreedyRewriteConfig config;
    config.setUseTopDownTraversal().setRegionSimplificationLevel(
        simplifyRegions ? GreedySimplifyRegionLevel::Normal
                        : GreedySimplifyRegionLevel::Disabled);
    if (failed(
            rewriteGreedily(getOperation(), patterns, getArgument(), config)))
      signalPassFailure();
  }

  FrozenRewritePatternSet patterns;
};

} // namespace
