//===- NNToDnnl.cpp - nn-to-dnnl ------------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/dnnl/DnnlDialect.h"
#include "dialects/ingot/IngotDialect.h"
#include "dialects/nn/NNDialect.h"
#include "passes/dnnl/lower/OneDnnSupport.h"
#include "passes/dnnl/lower/Passes.h"
#include "passes/support/Rewrite.h"
#include "passes/support/Tensors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace ingot {
#define GEN_PASS_DEF_NNTODNNL
#include "passes/dnnl/lower/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using support::destinationOf;
using support::typeOf;

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {

struct ConvPattern : OpRewritePattern<nn::ConvOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::ConvOp op,
                                PatternRewriter &rewriter) const override {
    RankedTensorType type = op.getY().getType();
    if (Reason reason = dnnl::whyNotToDnnl(op))
      return rewriter.notifyMatchFailure(op, *reason);
    Value destination = destinationOf(rewriter, op->getResult(0));
    rewriter.replaceOpWithNewOp<dnnl::ConvolutionOp>(
        op, type, op.getX(), op.getW(), op.getBias(), ValueRange(), destination,
        op.getStrides(), op.getPads(), op.getDilations(), op.getGroups(),
        rewriter.getArrayAttr({}));
    return success();
  }
};

struct ConvTransposePattern : OpRewritePattern<nn::ConvTransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::ConvTransposeOp op,
                                PatternRewriter &rewriter) const override {
    RankedTensorType type = op.getY().getType();
    int64_t n = op.getStrides().size();
    if (Reason reason = dnnl::whyNotToDnnl(op))
      return rewriter.notifyMatchFailure(op, *reason);
    // Output padding enlarges the result at its end, like a smaller end pad.
    SmallVector<int64_t> pads(op.getPads());
    for (int64_t d = 0; d < n; ++d)
      pads[n + d] -= op.getOutputPadding()[d];
    Value destination = destinationOf(rewriter, op->getResult(0));
    rewriter.replaceOpWithNewOp<dnnl::DeconvolutionOp>(
        op, type, op.getX(), op.getW(), op.getBias(), ValueRange(), destination,
        op.getStrides(), pads, op.getDilations(), op.getGroups(),
        rewriter.getArrayAttr({}));
    return success();
  }
};

struct MatMulPattern : OpRewritePattern<nn::MatMulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::MatMulOp op,
                                PatternRewriter &rewriter) const override {
    RankedTensorType type = op.getY().getType();
    if (Reason reason = dnnl::whyNotToDnnl(op))
      return rewriter.notifyMatchFailure(op, *reason);
    Location loc = op.getLoc();
    Value destination = destinationOf(rewriter, op->getResult(0));
    Value bias = op.getBias();
    bool isVector =
        bias && typeOf(bias).getRank() == 1 &&
        typeOf(bias).getDimSize(0) == type.getDimSize(type.getRank() - 1) &&
        typeOf(bias).hasStaticShape();
    Value product = dnnl::MatMulOp::create(
                        rewriter, loc, type, op.getA(), op.getB(),
                        isVector ? bias : Value(), ValueRange(), destination,
                        op.getTransposeA(), op.getTransposeB(),
                        rewriter.getArrayAttr({}))
                        .getResult();
    if (bias && !isVector)
      product = nn::AddOp::create(rewriter, loc, type, product, bias);
    rewriter.replaceOp(op, product);
    return success();
  }
};

template <typename PoolOp>
struct PoolPattern : OpRewritePattern<PoolOp> {
  using OpRewritePattern<PoolOp>::OpRewritePattern;

  static dnnl::PoolKind kindOf(nn::MaxPoolOp) { return dnnl::PoolKind::max; }
  static dnnl::PoolKind kindOf(nn::AvgPoolOp op) {
    return op.getCountIncludePad() ? dnnl::PoolKind::avg_padded
                                   : dnnl::PoolKind::avg;
  }

  LogicalResult matchAndRewrite(PoolOp op,
                                PatternRewriter &rewriter) const override {
    if (Reason reason = dnnl::whyNotToDnnl(op))
      return rewriter.notifyMatchFailure(op, *reason);
    RankedTensorType type = op.getY().getType();
    Value destination = destinationOf(rewriter, op->getResult(0));
    rewriter.replaceOpWithNewOp<dnnl::PoolingOp>(
        op, type, kindOf(op), op.getX(), destination, op.getKernel(),
        op.getStrides(), op.getPads(), op.getDilations());
    return success();
  }
};

struct SoftmaxPattern : OpRewritePattern<nn::SoftmaxOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::SoftmaxOp op,
                                PatternRewriter &rewriter) const override {
    if (Reason reason = dnnl::whyNotToDnnl(op))
      return rewriter.notifyMatchFailure(op, *reason);
    Value destination =
        destinationOf(rewriter, op->getResult(0));
    rewriter.replaceOpWithNewOp<dnnl::SoftmaxOp>(
        op, op.getY().getType(), op.getX(), destination, op.getAxis(),
        op.getLog());
    return success();
  }
};

struct LayerNormPattern : OpRewritePattern<nn::LayerNormOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::LayerNormOp op,
                                PatternRewriter &rewriter) const override {
    RankedTensorType type = typeOf(op.getX());
    int64_t axis = op.getAxis(), rank = type.getRank();
    if (Reason reason = dnnl::whyNotToDnnl(op))
      return rewriter.notifyMatchFailure(op, *reason);
    Location loc = op.getLoc();
    // Collapse all dimensions from the axis on into one.
    SmallVector<ReassociationIndices> outer, whole(1);
    for (int64_t i = 0; i < rank; ++i) {
      if (i <= axis)
        outer.emplace_back();
      outer.back().push_back(i);
      if (i >= axis)
        whole[0].push_back(i - axis);
    }
    auto collapse = [&](Value value,
                        ArrayRef<ReassociationIndices> groups) -> Value {
      if (!value || axis == rank - 1)
        return value;
      return tensor::CollapseShapeOp::create(rewriter, loc, value, groups);
    };
    Value x = collapse(op.getX(), outer);
    Value destination = support::emptyLike(rewriter, loc, x);
    Value y = dnnl::LayerNormOp::create(
                  rewriter, loc, x.getType(), x, collapse(op.getScale(), whole),
                  collapse(op.getBias(), whole), destination,
                  op.getEpsilonAttr())
                  .getResult();
    if (axis != rank - 1)
      y = tensor::ExpandShapeOp::create(
          rewriter, loc, type, y, outer,
          tensor::getMixedSizes(rewriter, loc, op.getX()));
    rewriter.replaceOp(op, y);
    return success();
  }
};

struct NNToDnnlPass : ingot::impl::NNToDnnlBase<NNToDnnlPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ConvPattern, ConvTransposePattern, LayerNormPattern,
                 MatMulPattern, PoolPattern<nn::AvgPoolOp>,
                 PoolPattern<nn::MaxPoolOp>, SoftmaxPattern>(&getContext());
    rewriteInOneWalk(getOperation(), std::move(patterns));
  }
};

} // namespace
