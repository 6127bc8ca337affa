//===- LowerOpenExpansions.cpp - lower-open-expansions --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/llvm/Passes.h"
#include "passes/support/Rewrite.h"
#include "passes/support/Shapes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace ingot {
#define GEN_PASS_DEF_LOWEROPENEXPANSIONS
#include "passes/llvm/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

namespace {

struct LowerOpenExpansion : OpRewritePattern<memref::ExpandShapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(memref::ExpandShapeOp op,
                                PatternRewriter &rewriter) const override {
    MemRefType type = op.getResultType();
    auto isOpen = [&](int64_t dim) { return type.isDynamicDim(dim); };
    SmallVector<ReassociationIndices> groups = op.getReassociationIndices();
    if (llvm::none_of(groups, [&](const ReassociationIndices &group) {
          return llvm::count_if(group, isOpen) > 1;
        }))
      return rewriter.notifyMatchFailure(
          op, "has no more than one open size in each group");
    Location loc = op.getLoc();
    auto source =
        memref::ExtractStridedMetadataOp::create(rewriter, loc, op.getSrc());
    SmallVector<OpFoldResult> sizes = op.getMixedOutputShape(),
                              outer = source.getConstifiedMixedStrides(),
                              strides(sizes.size());
    for (auto [group, stride] : llvm::zip_equal(groups, outer))
      for (int64_t dim : llvm::reverse(group)) {
        strides[dim] = stride;
        stride = support::productOf(rewriter, loc, {stride, sizes[dim]});
      }
    rewriter.replaceOpWithNewOp<memref::ReinterpretCastOp>(
        op, type, source.getBaseBuffer(), source.getConstifiedMixedOffset(),
        sizes, strides);
    return success();
  }
};

struct LowerOpenExpansionsPass
    : ingot::impl::LowerOpenExpansionsBase<LowerOpenExpansionsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<LowerOpenExpansion>(&getContext());
    rewriteInOneWalk(getOperation(), std::move(patterns));
  }
};

} // namespace
