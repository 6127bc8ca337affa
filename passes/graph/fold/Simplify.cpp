//===- Simplify.cpp - nn-simplify -----------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"
#include "passes/graph/Passes.h"
#include "passes/support/Rewrite.h"
#include "passes/support/Scalars.h"
#include "passes/support/ScaleShift.h"
#include "passes/support/Shapes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/DialectResourceBlobManager.h"

namespace ingot {
#define GEN_PASS_DEF_SIMPLIFY
#include "passes/graph/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::support;

/// Returns `value` reshaped to `shape`.
static Value reshaped(PatternRewriter &rewriter, Location loc, Value value,
                      ArrayRef<int64_t> shape) {
  auto type = RankedTensorType::get(shape, typeOf(value).getElementType());
  ElementsAttr attr = nn::getConstant(value);
  if (auto dense = dyn_cast_or_null<DenseElementsAttr>(attr))
    return arith::ConstantOp::create(rewriter, loc, type, dense.reshape(type));
  if (auto resource = dyn_cast_or_null<DenseResourceElementsAttr>(attr))
    return arith::ConstantOp::create(
        rewriter, loc, type,
        DenseResourceElementsAttr::get(type, resource.getRawHandle()));
  return nn::ReshapeOp::create(rewriter, loc, type, value);
}

static constexpr StringLiteral kNotWhole("does not have one window over all");
static constexpr StringLiteral kExponent("has no exponent of a simpler op");

namespace {

/// Removes x + 0, x - 0, x * 1 and x / 1.
template <typename Op> struct DropNeutral : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    bool product =
        std::is_same_v<Op, nn::MulOp> || std::is_same_v<Op, nn::DivOp>;
    bool commutes =
        std::is_same_v<Op, nn::MulOp> || std::is_same_v<Op, nn::AddOp>;
    for (int i : {0, 1}) {
      Value x = op->getOperand(i);
      if ((i == 1 && !commutes) || x.getType() != op.getType() ||
          smallSplat(op->getOperand(1 - i)) != (product ? 1.0 : 0.0))
        continue;
      rewriter.replaceOp(op, x);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "has no neutral operand");
  }
};

/// Merges the constants of x + a + b, where either sum may be a difference.
/// Integers wrap around, so that their sum does not depend on the order. The
/// merged constant keeps the sign of b, and has the other sign of a if these
/// differ.
template <typename Op>
struct MergeShifts : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    constexpr bool subtracts = std::is_same_v<Op, nn::SubOp>;
    RankedTensorType type = op.getType();
    Operation *inner = op.getA().getDefiningOp();
    if (!type.getElementType().isInteger(32) || !inner ||
        !isa<nn::AddOp, nn::SubOp>(inner) || !inner->hasOneUse())
      return rewriter.notifyMatchFailure(op, "is not of a sum of i32");
    Value x = inner->getOperand(0), a = inner->getOperand(1), b = op.getB();
    if (x.getType() != type || !nn::getConstant(a) || !nn::getConstant(b))
      return rewriter.notifyMatchFailure(op, "adds no two constants");
    auto shape =
        nn::broadcastShapes({typeOf(a).getShape(), typeOf(b).getShape()});
    RankedTensorType both = shape ? typeOf(b).clone(*shape) : nullptr;
    if (!both || both.getNumElements() > std::max(typeOf(a).getNumElements(),
                                                  typeOf(b).getNumElements()))
      return rewriter.notifyMatchFailure(op, "would have a larger constant");
    Value shift =
        isa<nn::SubOp>(inner) == subtracts
            ? Value(nn::AddOp::create(rewriter, op.getLoc(), both, b, a))
            : Value(nn::SubOp::create(rewriter, op.getLoc(), both, b, a));
    rewriter.replaceOpWithNewOp<Op>(op, type, x, shift);
    return success();
  }
};

/// Replaces a pool whose single window covers everything by a reduction.
template <typename Op> struct PoolToReduce : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    RankedTensorType x = typeOf(op.getX());
    SmallVector<int64_t> axes;
    for (int64_t i = 1; i < x.getRank(); ++i)
      if (i != channelDim(x.getRank(), op.getChannelsLast()))
        axes.push_back(i);
    for (auto [i, axis] : llvm::enumerate(axes))
      if (x.getDimSize(axis) != op.getKernel()[i] ||
          op.getDilations()[i] != 1 || op.getPads()[i] != 0 ||
          op.getPads()[axes.size() + i] != 0)
        return rewriter.notifyMatchFailure(op, kNotWhole);
    constexpr bool isMax = std::is_same_v<Op, nn::MaxPoolOp>;
    rewriter.replaceOpWithNewOp<nn::ReduceOp>(
        op, op.getType(), op.getX(),
        isMax ? nn::ReduceKind::max : nn::ReduceKind::mean, axes,
        /*keep_dims=*/true);
    return success();
  }
};

/// Replaces a convolution whose single window covers everything by a matrix
/// product. Keeps a 1×1 convolution between other ops on pixels, because it
/// fuses with these ops. Keeps a convolution that can still absorb its user.
struct ConvToMatMul : OpRewritePattern<nn::ConvOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::ConvOp op,
                                PatternRewriter &rewriter) const override {
    RankedTensorType x = typeOf(op.getX()), w = typeOf(op.getW());
    if (op.getGroups() != 1 || !w.hasStaticShape())
      return rewriter.notifyMatchFailure(op, "has groups, or open weights");
    if (op.getXZeroPoint() != 0)
      return rewriter.notifyMatchFailure(op, "has a zero point");
    int64_t rank = x.getRank(), inputs = w.getDimSize(1);
    int64_t channel = channelDim(rank, op.getChannelsLast());
    for (int64_t i = 0, next = 0; i < rank - 2; ++i, ++next) {
      int64_t dim = op.getChannelsLast() ? i + 1 : i + 2;
      inputs *= w.getDimSize(2 + i);
      if (x.getDimSize(dim) != w.getDimSize(2 + i) || op.getPads()[i] != 0 ||
          op.getPads()[rank - 2 + i] != 0 ||
          (op.getDilations()[i] != 1 && w.getDimSize(2 + i) != 1))
        return rewriter.notifyMatchFailure(op, kNotWhole);
    }
    bool onePixel = inputs == w.getDimSize(1);
    for (Operation *user : op->getUsers()) {
      auto reshape = dyn_cast<nn::ReshapeOp>(user);
      if (onePixel && (!reshape || reshape.getType().getRank() != 2))
        return rewriter.notifyMatchFailure(op, "stays between ops on pixels");
      if (isa<nn::AddOp, nn::SubOp, nn::MulOp, nn::DivOp, nn::BatchNormOp>(
              user))
        return rewriter.notifyMatchFailure(op, "may take in its user first");
    }
    // The weights have the channels before the positions. The data must have
    // the same order, because both are flattened.
    if (x.isDynamicDim(channel) || (op.getChannelsLast() && !onePixel))
      return rewriter.notifyMatchFailure(
          op, "has data in another order than its weights");
    Location loc = op.getLoc();
    int64_t batch = x.getDimSize(0), outputs = w.getDimSize(0);
    RankedTensorType flat = x.clone({batch, inputs});
    if (!support::followsFromCount(flat))
      return rewriter.notifyMatchFailure(
          op, "has no elements, whose number would tell the batch");
    Value rows = nn::ReshapeOp::create(rewriter, loc, flat, op.getX());
    Value weights = reshaped(rewriter, loc, op.getW(), {outputs, inputs});
    Value y = nn::MatMulOp::create(rewriter, loc,
                                   op.getType().clone({batch, outputs}), rows,
                                   weights, op.getBias(), /*transpose_a=*/false,
                                   /*transpose_b=*/true);
    rewriter.replaceOpWithNewOp<nn::ReshapeOp>(op, op.getType(), y);
    return success();
  }
};

/// Merges cast(cast(x)) if the middle type can represent every value of x's
/// type.
struct ComposeCasts : OpRewritePattern<nn::CastOp> {
  using OpRewritePattern::OpRewritePattern;

  static bool holds(Type wide, Type narrow) {
    if (isa<FloatType>(wide) && isa<FloatType>(narrow)) {
      const auto &w = cast<FloatType>(wide).getFloatSemantics();
      const auto &n = cast<FloatType>(narrow).getFloatSemantics();
      return APFloat::isRepresentableBy(n, w);
    }
    auto w = dyn_cast<IntegerType>(wide), n = dyn_cast<IntegerType>(narrow);
    if (!w || !n)
      return false;
    if (w.isUnsigned() == n.isUnsigned())
      return w.getWidth() >= n.getWidth() && w.getWidth() > 1;
    return n.isUnsigned() && w.getWidth() > n.getWidth();
  }

  LogicalResult matchAndRewrite(nn::CastOp op,
                                PatternRewriter &rewriter) const override {
    auto inner = op.getX().getDefiningOp<nn::CastOp>();
    if (!inner || !holds(typeOf(inner).getElementType(),
                         typeOf(inner.getX()).getElementType()))
      return rewriter.notifyMatchFailure(op,
                                         "is not of a cast to a wider type");
    // A saturating cast may turn infinities into finite numbers, so it is not
    // the identity.
    if (inner.getX().getType() == op.getType() && !op.getSaturate())
      rewriter.replaceOp(op, inner.getX());
    else
      rewriter.replaceOpWithNewOp<nn::CastOp>(
          op, op.getType(), inner.getX(), op.getInRange(), op.getSaturate(),
          op.getRounding());
    return success();
  }
};

/// Replaces clamp(x, 0, inf) by relu(x), and clamp(x, -inf, inf) by x.
struct ClampToRelu : OpRewritePattern<nn::ClampOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nn::ClampOp op,
                                PatternRewriter &rewriter) const override {
    double min = op.getMin().convertToDouble(),
           max = op.getMax().convertToDouble();
    if (min == 0 && std::isinf(max) && max > 0)
      rewriter.replaceOpWithNewOp<nn::ReluOp>(op, op.getType(), op.getX());
    else if (std::isinf(min) && min < 0 && std::isinf(max) && max > 0)
      rewriter.replaceOp(op, op.getX());
    else
      return rewriter.notifyMatchFailure(op, "has finite bounds");
    return success();
  }
};

struct MaxToRelu : OpRewritePattern<nn::MaxOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nn::MaxOp op,
                                PatternRewriter &rewriter) const override {
    for (int i : {0, 1}) {
      Value x = op->getOperand(i);
      if (x.getType() != op.getType() ||
          smallSplat(op->getOperand(1 - i)) != 0.0)
        continue;
      rewriter.replaceOpWithNewOp<nn::ReluOp>(op, op.getType(), x);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "is not a maximum with 0");
  }
};

/// Removes a relu of data that cannot be negative, such as the result of
/// another relu, a sigmoid, or a clamp from 0 or more.
struct DropRelu : OpRewritePattern<nn::ReluOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nn::ReluOp op,
                                PatternRewriter &rewriter) const override {
    Operation *inner = op.getX().getDefiningOp();
    auto clamp = dyn_cast_or_null<nn::ClampOp>(inner);
    bool positive = isa_and_nonnull<nn::ReluOp, nn::SigmoidOp,
                                    nn::HardSigmoidOp, nn::SoftmaxOp>(inner) ||
                    (clamp && clamp.getMin().convertToDouble() >= 0);
    auto softmax = dyn_cast_or_null<nn::SoftmaxOp>(inner);
    if (!positive || (softmax && softmax.getLog()) ||
        op.getX().getType() != op.getType())
      return rewriter.notifyMatchFailure(op, "is of data that may be negative");
    rewriter.replaceOp(op, op.getX());
    return success();
  }
};

/// Replaces x^2, x^1, x^0.5 and x^-1 by simpler ops.
struct SimplifyPow : OpRewritePattern<nn::PowOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nn::PowOp op,
                                PatternRewriter &rewriter) const override {
    Value x = op.getA();
    std::optional<double> exponent = smallSplat(op.getB());
    if (!exponent || x.getType() != op.getType())
      return rewriter.notifyMatchFailure(op, kExponent);
    bool isFloat = isa<FloatType>(typeOf(x).getElementType());
    if (*exponent == 1)
      rewriter.replaceOp(op, x);
    else if (*exponent == 2)
      rewriter.replaceOpWithNewOp<nn::MulOp>(op, op.getType(), x, x);
    else if (*exponent == 0.5 && isFloat)
      rewriter.replaceOpWithNewOp<nn::SqrtOp>(op, op.getType(), x);
    else if (*exponent == -1 && isFloat)
      rewriter.replaceOpWithNewOp<nn::ReciprocalOp>(op, op.getType(), x);
    else
      return rewriter.notifyMatchFailure(op, kExponent);
    return success();
  }
};

struct SimplifyPass : ingot::impl::SimplifyBase<SimplifyPass> {
  using SimplifyBase::SimplifyBase;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    patterns.add<
        DropNeutral<nn::AddOp>, DropNeutral<nn::SubOp>, DropNeutral<nn::MulOp>,
        DropNeutral<nn::DivOp>, MergeShifts<nn::AddOp>, MergeShifts<nn::SubOp>,
        PoolToReduce<nn::AvgPoolOp>, PoolToReduce<nn::MaxPoolOp>, ConvToMatMul,
        ComposeCasts, ClampToRelu, MaxToRelu, DropRelu, SimplifyPow>(context);
    nn::ReshapeOp::getCanonicalizationPatterns(patterns, context);
    nn::TransposeOp::getCanonicalizationPatterns(patterns, context);
    if (failed(rewriteGreedily(getOperation(), std::move(patterns),
                               getArgument())))
      signalPassFailure();
  }
};

} // namespace
