//===- NNToDnnl.cpp - nn-to-dnnl ------------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/dnnl/DnnlDialect.h"
#include "dialects/ingot/IngotDialect.h"
#include "dialects/nn/NNDialect.h"
#include "passes/lower/dnnl/OneDnnSupport.h"
#include "passes/lower/dnnl/Passes.h"
#include "passes/support/Destination.h"
#include "passes/support/Shapes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace ingot {
#define GEN_PASS_DEF_NNTODNNL
#include "passes/lower/dnnl/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using lower::createDestination;
using lower::createDestinationLike;
using lower::createWindowed;
using lower::scaleIndex;
using lower::typeOf;

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {

struct ConvPattern : OpRewritePattern<nn::ConvOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::ConvOp op,
                                PatternRewriter &rewriter) const override {
    RankedTensorType weights = typeOf(op.getW()), type = op.getY().getType();
    if (Reason reason = lower::whyNotToDnnl(op))
      return rewriter.notifyMatchFailure(op, *reason);
    Value destination = createWindowed(
        rewriter, op.getLoc(), op.getX(), type, weights.getShape().drop_front(2),
        op.getStrides(), op.getPads(), op.getDilations());
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
    RankedTensorType weights = typeOf(op.getW()), type = op.getY().getType();
    int64_t n = weights.getRank() - 2;
    if (Reason reason = lower::whyNotToDnnl(op))
      return rewriter.notifyMatchFailure(op, *reason);
    // Output padding makes the result larger at its end: a smaller pad.
    SmallVector<int64_t> pads(op.getPads());
    for (int64_t d = 0; d < n; ++d)
      pads[n + d] -= op.getOutputPadding()[d];
    Location loc = op.getLoc();
    Value destination =
        createDestination(rewriter, loc, type, [&](int64_t i) -> Value {
          Value size = tensor::DimOp::create(rewriter, loc, op.getX(), i);
          if (i < 1 || i > n)
            return size;
          int64_t d = i - 1, stride = op.getStrides()[d];
          int64_t extent =
              (weights.getDimSize(i + 1) - 1) * op.getDilations()[d] + 1;
          return scaleIndex(rewriter, loc, size, stride,
                            extent - stride - pads[d] - pads[n + d], 1, 0);
        });
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
    if (Reason reason = lower::whyNotToDnnl(op))
      return rewriter.notifyMatchFailure(op, *reason);
    Location loc = op.getLoc();
    Value destination =
        createDestination(rewriter, loc, type, [&](int64_t i) -> Value {
          return sizeOf(rewriter, op, type.getRank() - i);
        });
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

  /// Size of dimension `fromEnd` (1 is the last) of the result.
  static Value sizeOf(OpBuilder &builder, nn::MatMulOp op, int64_t fromEnd) {
    auto dim = [&](Value value, int64_t i) -> Value {
      return tensor::DimOp::create(builder, op.getLoc(), value,
                                   typeOf(value).getRank() - i);
    };
    if (fromEnd == 1)
      return dim(op.getB(), op.getTransposeB() ? 2 : 1);
    if (fromEnd == 2)
      return dim(op.getA(), op.getTransposeA() ? 1 : 2);
    RankedTensorType a = typeOf(op.getA());
    bool fromA = a.getRank() >= fromEnd &&
                 a.isDynamicDim(a.getRank() - fromEnd);
    RankedTensorType b = typeOf(op.getB());
    bool fromB = b.getRank() >= fromEnd &&
                 b.isDynamicDim(b.getRank() - fromEnd);
    if (!fromA || !fromB)
      return dim(fromA ? op.getA() : op.getB(), fromEnd);
    // Either may be 1 in a run.
    return arith::MaxUIOp::create(builder, op.getLoc(), dim(op.getA(), fromEnd),
                                  dim(op.getB(), fromEnd));
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
    if (Reason reason = lower::whyNotToDnnl(op))
      return rewriter.notifyMatchFailure(op, *reason);
    RankedTensorType type = op.getY().getType();
    Value destination = createWindowed(
        rewriter, op.getLoc(), op.getX(), type, op.getKernel(),
        op.getStrides(), op.getPads(), op.getDilations());
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
    if (Reason reason = lower::whyNotToDnnl(op))
      return rewriter.notifyMatchFailure(op, *reason);
    Value destination =
        createDestinationLike(rewriter, op.getLoc(), op.getX());
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
    if (Reason reason = lower::whyNotToDnnl(op))
      return rewriter.notifyMatchFailure(op, *reason);
    Location loc = op.getLoc();
    // Dimensions from the axis on become one.
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
    Value destination = createDestinationLike(rewriter, loc, x);
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
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};

} // namespace
