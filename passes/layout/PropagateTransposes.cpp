//===- PropagateTransposes.cpp - nn-propagate-transposes ------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/ingot/IngotDialect.h"
#include "passes/layout/Passes.h"
#include "passes/layout/Sink.h"
#include "passes/support/Rewrite.h"
#include "passes/support/Shapes.h"
#include "passes/support/Thresholds.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace ingot {
#define GEN_PASS_DEF_PROPAGATETRANSPOSES
#include "passes/layout/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::layout;
using namespace ingot::support;

namespace {

/// Turns a transpose that only moves dimensions of size 1 into a reshape.
struct TransposeToReshape : OpRewritePattern<nn::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nn::TransposeOp op,
                                PatternRewriter &rewriter) const override {
    RankedTensorType type = op.getType();
    if (!support::followsFromCount(type) ||
        !keepsOrder(typeOf(op.getX()).getShape(), op.getPerm()))
      return rewriter.notifyMatchFailure(
          op, "moves data, or has more than one open size");
    rewriter.replaceOpWithNewOp<nn::ReshapeOp>(op, type, op.getX());
    return success();
  }
};

/// Returns true if a resize enlarges its operand enough to transpose the
/// operand instead of the result. With a smaller growth, resizing along rows
/// loses more than the smaller transpose gains. A dimension whose size a run
/// computes is assumed to grow by the factor `threshold::computedGrowth`. Its
/// new size is usually that of a larger feature map or of the model's input
/// image.
bool enlarges(nn::ResizeOp op) {
  RankedTensorType from = typeOf(op.getX()), to = typeOf(op.getY());
  if (from.hasStaticShape() && to.hasStaticShape())
    return to.getNumElements() / threshold::transposedGrowth >=
           from.getNumElements();
  double growth = 1;
  for (auto [d, scale] : llvm::enumerate(op.getScales()))
    growth *= op.isComputed(d) ? threshold::computedGrowth : scale;
  return growth >= threshold::transposedGrowth;
}

/// Transposes the operand of an enlarging resize instead of its result.
/// Resizing whole rows is then as fast as resizing whole pixels.
struct TransposeBeforeResize : OpRewritePattern<nn::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nn::TransposeOp op,
                                PatternRewriter &rewriter) const override {
    auto resize = op.getX().getDefiningOp<nn::ResizeOp>();
    if (!resize || !resize->hasOneUse())
      return rewriter.notifyMatchFailure(op,
                                         "is not the only user of a resize");
    if (!enlarges(resize))
      return rewriter.notifyMatchFailure(
          op, "does not follow a resize that enlarges its operand enough");
    Perm perm(op.getPerm());
    SmallVector<Value> operands{
        transposed(rewriter, op.getLoc(), resize.getX(), perm)};
    for (OperandRange given : {resize.getSizes(), resize.getFactors()})
      for (int64_t dim : perm)
        if (resize.isComputed(dim))
          operands.push_back(given[resize.computedBefore(dim)]);
    auto scales = permute(resize.getScales(), perm);
    auto after = cast<nn::ResizeOp>(rewriter.clone(*resize));
    after->setOperands(operands);
    after.setScales(scales);
    after.getY().setType(op.getType());
    rewriter.replaceOp(op, after);
    rewriter.eraseOp(resize);
    return success();
  }
};

/// Folds a transpose of the last two dimensions into the transpose flags of a
/// matmul.
struct TransposeIntoMatMul : OpRewritePattern<nn::MatMulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nn::MatMulOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<Value> operands(op->getOperands());
    bool changed = false;
    for (int i : {0, 1}) {
      nn::TransposeOp transpose = transposeFor(op, operands[i]);
      if (!transpose)
        continue;
      Perm perm(transpose.getPerm());
      size_t rank = perm.size();
      // Fold only if the transpose moves the innermost dimension to the second
      // to last position. The flag then moves it back.
      if (perm[rank - 2] != int64_t(rank) - 1)
        continue;
      std::swap(perm[rank - 2], perm[rank - 1]);
      operands[i] =
          transposed(rewriter, transpose.getLoc(), transpose.getX(), perm);
      changed = true;
      if (i == 0)
        rewriter.modifyOpInPlace(
            op, [&] { op.setTransposeA(!op.getTransposeA()); });
      else
        rewriter.modifyOpInPlace(
            op, [&] { op.setTransposeB(!op.getTransposeB()); });
    }
    if (!changed)
      return rewriter.notifyMatchFailure(
          op, "has no operand with its last two dimensions swapped");
    rewriter.modifyOpInPlace(op, [&] { op->setOperands(operands); });
    return success();
  }
};

/// Moves an observer before a transpose, because the order of elements does not
/// matter to it.
struct ObserveBeforeTranspose : OpRewritePattern<ObserveOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ObserveOp op,
                                PatternRewriter &rewriter) const override {
    nn::TransposeOp transpose = transposeOf(op.getX());
    if (!transpose)
      return rewriter.notifyMatchFailure(op, kNoTranspose);
    rewriter.modifyOpInPlace(
        op, [&] { op.getXMutable().assign(transpose.getX()); });
    return success();
  }
};

struct PropagateTransposesPass
    : ingot::impl::PropagateTransposesBase<PropagateTransposesPass> {
  using PropagateTransposesBase::PropagateTransposesBase;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet sink(context), finish(context);
    populateSinkThroughElementwise(sink);
    populateSinkThroughMovement(sink);
    populateSinkThroughReduction(sink);
    OpenReshapes reshapes(getOperation());
    populateSinkThroughReshape(sink, reshapes);
    sink.add<TransposeIntoMatMul, ObserveBeforeTranspose>(context);
    finish.add<TransposeBeforeResize, TransposeToReshape>(context);
    nn::ReshapeOp::getCanonicalizationPatterns(finish, context);
    // Walk once, and visit each op after its operands. Patterns create ops
    // before the visited op, so the walk does not visit them.
    rewriteInOneWalk(getOperation(), std::move(sink));
    eraseUnused();
    // Create reshapes last, because they would prevent transposes from being
    // combined.
    if (failed(
            rewriteGreedily(getOperation(), std::move(finish), getArgument())))
      return signalPassFailure();
    getOperation()->walk([&](nn::TransposeOp) { ++numLeft; });
  }

  /// Erases the transposes that sank below all their users, and the ops that
  /// only these transposes used.
  void eraseUnused() {
    getOperation()->walk<WalkOrder::PostOrder, mlir::ReverseIterator>(
        [](Operation *op) {
          if (isOpTriviallyDead(op))
            op->erase();
        });
  }
};

} // namespace
