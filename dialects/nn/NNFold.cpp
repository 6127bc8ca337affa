//===- NNFold.cpp - folders and canonicalization --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/NNDialect.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace ingot::nn;

//===----------------------------------------------------------------------===//
// Folders whose result is an operand
//===----------------------------------------------------------------------===//

OpFoldResult CastOp::fold(FoldAdaptor) {
  return getX().getType() == getType() ? getX() : OpFoldResult();
}

OpFoldResult ReduceOp::fold(FoldAdaptor) {
  bool copies = getAxes().empty() && getKind() != ReduceKind::sum_square;
  return copies && getX().getType() == getType() ? getX() : OpFoldResult();
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  for (auto [i, dim] : llvm::enumerate(getPerm()))
    if (int64_t(i) != dim)
      return {};
  return getX().getType() == getType() ? getX() : OpFoldResult();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  auto type = cast<RankedTensorType>(getType());
  bool same = getX().getType() == type && type.getNumDynamicDims() <= 1;
  return same ? getX() : OpFoldResult();
}

OpFoldResult BroadcastToOp::fold(FoldAdaptor) {
  auto type = cast<RankedTensorType>(getType());
  bool same = getX().getType() == type && type.hasStaticShape();
  return same ? getX() : OpFoldResult();
}

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  bool single = getInputs().size() == 1;
  return single && getInputs()[0].getType() == getType() ? getInputs()[0]
                                                         : OpFoldResult();
}

OpFoldResult SliceOp::fold(FoldAdaptor) {
  auto type = cast<RankedTensorType>(getX().getType());
  if (getX().getType() != getType())
    return {};
  for (int64_t i = 0; i < type.getRank(); ++i) {
    bool whole = getStarts()[i] == 0 && getSteps()[i] == 1 &&
                 (getSizes()[i] == -1 || getSizes()[i] == type.getDimSize(i));
    if (!whole)
      return {};
  }
  return getX();
}

//===----------------------------------------------------------------------===//
// Canonicalization: chains of one op
//===----------------------------------------------------------------------===//

namespace {

/// Replaces transpose(transpose(x)) by one transpose.
struct ComposeTransposes : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op,
                                PatternRewriter &rewriter) const override {
    auto inner = op.getX().getDefiningOp<TransposeOp>();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "is not of a transpose");
    SmallVector<int64_t> perm;
    for (int64_t dim : op.getPerm())
      perm.push_back(inner.getPerm()[dim]);
    rewriter.replaceOpWithNewOp<TransposeOp>(op, op.getType(), inner.getX(),
                                             perm);
    return success();
  }
};

/// Replaces reshape(reshape(x)) by one reshape.
struct ComposeReshapes : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op,
                                PatternRewriter &rewriter) const override {
    auto inner = op.getX().getDefiningOp<ReshapeOp>();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "is not of a reshape");
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), inner.getX());
    return success();
  }
};

} // namespace

void TransposeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {
  patterns.add<ComposeTransposes>(context);
}

void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *context) {
  patterns.add<ComposeReshapes>(context);
}
