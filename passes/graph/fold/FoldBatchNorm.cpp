//===- FoldBatchNorm.cpp - nn-fold-batch-norm -----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"
#include "passes/graph/Passes.h"
#include "passes/support/Rewrite.h"
#include "passes/support/ScaleShift.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace ingot {
#define GEN_PASS_DEF_FOLDBATCHNORM
#include "passes/graph/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::support;

static constexpr StringLiteral kNotScaleShift(
    "has parameters that are computed or not finite");
static constexpr StringLiteral kWeights("has no constant weights and bias");

namespace {

/// Folds the bias addition between a matmul and a normalization into the
/// matmul. Exporters write a linear layer like this. Without this step, the
/// normalization would not follow the matmul directly, so it could not be
/// folded.
struct FoldBiasBelow : OpRewritePattern<nn::AddOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::AddOp op,
                                PatternRewriter &rewriter) const override {
    if (!op->hasOneUse() || !isa<nn::BatchNormOp>(*op->user_begin()))
      return rewriter.notifyMatchFailure(op, "is not only normalized");
    return foldIntoProducer(rewriter, op);
  }
};

/// Folds a normalization into the convolution or matmul behind it, if no op
/// before it can absorb it.
struct FoldIntoConsumer : OpRewritePattern<nn::BatchNormOp> {
  FoldIntoConsumer(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern(context, /*benefit=*/2), count(count) {}

  LogicalResult matchAndRewrite(nn::BatchNormOp op,
                                PatternRewriter &rewriter) const override {
    if (!op->hasOneUse())
      return rewriter.notifyMatchFailure(op, "does not have exactly one user");
    OpOperand &use = *op->use_begin();
    auto conv = dyn_cast<nn::ConvOp>(use.getOwner());
    auto matmul = dyn_cast<nn::MatMulOp>(use.getOwner());
    if ((!conv && !matmul) || use.getOperandNumber() != 0)
      return rewriter.notifyMatchFailure(op, "is not the data of a product");
    std::optional<ScaleShift> scaleShift = getScaleShift(op);
    if (!scaleShift)
      return rewriter.notifyMatchFailure(op, kNotScaleShift);
    LogicalResult folded = conv ? intoConv(op, conv, *scaleShift, rewriter)
                                : intoMatMul(op, matmul, *scaleShift, rewriter);
    if (succeeded(folded))
      ++count;
    return folded;
  }

  LogicalResult intoConv(nn::BatchNormOp op, nn::ConvOp conv,
                         const ScaleShift &scaleShift,
                         PatternRewriter &rewriter) const {
    // The convolution pads the normalized data with zeros. If the normalization
    // has a shift, its bias cannot move into the convolution, because the
    // padding does not receive the shift.
    auto isPadding = [](int64_t pad) { return pad > 0; };
    if (scaleShift.shifts() && llvm::any_of(conv.getPads(), isPadding))
      return rewriter.notifyMatchFailure(op, "shifts what is padded behind it");
    RankedTensorType w = typeOf(conv.getW());
    if (op.getChannelsLast() != conv.getChannelsLast())
      return rewriter.notifyMatchFailure(op,
                                         "has another layout than its user");
    if (!w.hasStaticShape() || !nn::getConstant(conv.getW()))
      return rewriter.notifyMatchFailure(conv, kWeights);
    int64_t outputs = w.getDimSize(0), inputs = w.getDimSize(1);
    int64_t outputsOfGroup = outputs / conv.getGroups();
    auto inputOf = [&](int64_t output, int64_t input) {
      return output / outputsOfGroup * inputs + input;
    };
    auto bias = getBias(conv.getBias(), outputs);
    auto weights = nn::getConstantDoubles(conv.getW());
    if (!bias || !weights)
      return rewriter.notifyMatchFailure(conv, kWeights);
    int64_t taps = weights->size() / std::max<int64_t>(outputs * inputs, 1);
    const double *next = weights->data();
    for (int64_t o = 0; o < outputs; ++o)
      for (int64_t i = 0; i < inputs; ++i)
        for (int64_t t = 0; t < taps; ++t)
          (*bias)[o] += *next++ * scaleShift.shift[inputOf(o, i)];
    weights.reset();

    Location loc = rewriter.getFusedLoc({op.getLoc(), conv.getLoc()});
    rewriter.setInsertionPoint(conv);
    Value scaled = scaleWeights(rewriter, loc, conv.getW(), outputs, inputs,
                                [&](int64_t o, int64_t i) {
                                  return scaleShift.scale[inputOf(o, i)];
                                });
    rewriter.replaceOpWithNewOp<nn::ConvOp>(
        conv, conv.getType(), op.getX(), scaled,
        makeVector(rewriter, loc, w.getElementType(), *bias), conv.getStrides(),
        conv.getPads(), conv.getDilations(), conv.getGroups(),
        conv.getChannelsLast());
    rewriter.eraseOp(op);
    return success();
  }

  LogicalResult intoMatMul(nn::BatchNormOp op, nn::MatMulOp matmul,
                           const ScaleShift &scaleShift,
                           PatternRewriter &rewriter) const {
    RankedTensorType x = typeOf(op.getX()), w = typeOf(matmul.getB());
    bool lastDim =
        channelDim(x.getRank(), op.getChannelsLast()) == x.getRank() - 1;
    if (!lastDim || matmul.getTransposeA())
      return rewriter.notifyMatchFailure(
          op, "does not have its channels along what is summed up");
    if (w.getRank() != 2 || !w.hasStaticShape() ||
        !nn::getConstant(matmul.getB()))
      return rewriter.notifyMatchFailure(matmul, kWeights);
    bool transposed = matmul.getTransposeB();
    int64_t outputs = w.getDimSize(transposed ? 0 : 1);
    std::vector<double> bias(outputs, 0.0);
    if (matmul.getBias()) {
      RankedTensorType y = matmul.getType();
      auto values = getPerChannel(matmul.getBias(), y, y.getRank() - 1);
      if (!values)
        return rewriter.notifyMatchFailure(matmul, kWeights);
      bias = std::move(*values);
    }
    auto weights = nn::getConstantDoubles(matmul.getB());
    if (!weights)
      return rewriter.notifyMatchFailure(matmul, kWeights);
    const double *next = weights->data();
    for (int64_t row = 0; row < w.getDimSize(0); ++row)
      for (int64_t column = 0; column < w.getDimSize(1); ++column)
        bias[transposed ? row : column] +=
            *next++ * scaleShift.shift[transposed ? column : row];
    weights.reset();

    Location loc = rewriter.getFusedLoc({op.getLoc(), matmul.getLoc()});
    rewriter.setInsertionPoint(matmul);
    Value scaled =
        scaleWeights(rewriter, loc, matmul.getB(), w.getDimSize(0),
                     w.getDimSize(1), [&](int64_t row, int64_t column) {
                       return scaleShift.scale[transposed ? column : row];
                     });
    rewriter.replaceOpWithNewOp<nn::MatMulOp>(
        matmul, matmul.getType(), op.getX(), scaled,
        makeVector(rewriter, loc, w.getElementType(), bias),
        /*transpose_a=*/false, transposed);
    rewriter.eraseOp(op);
    return success();
  }
  Pass::Statistic &count;
};

/// Replaces a normalization that no product can absorb with a multiplication
/// and an addition.
struct ToScaleAndShift : OpRewritePattern<nn::BatchNormOp> {
  ToScaleAndShift(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern(context, /*benefit=*/1), count(count) {}

  LogicalResult matchAndRewrite(nn::BatchNormOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<ScaleShift> scaleShift = getScaleShift(op);
    if (!scaleShift)
      return rewriter.notifyMatchFailure(op, kNotScaleShift);
    RankedTensorType type = op.getType();
    int64_t dim = channelDim(type.getRank(), op.getChannelsLast());
    auto perChannel = [&](ArrayRef<double> values) {
      return makePerChannel(rewriter, op.getLoc(), type.getElementType(),
                            type.getRank(), dim, values);
    };
    Value y = op.getX();
    if (scaleShift->scales())
      y = nn::MulOp::create(rewriter, op.getLoc(), type, y,
                            perChannel(scaleShift->scale));
    if (scaleShift->shifts())
      y = nn::AddOp::create(rewriter, op.getLoc(), type, y,
                            perChannel(scaleShift->shift));
    rewriter.replaceOp(op, y);
    ++count;
    return success();
  }
  Pass::Statistic &count;
};

struct FoldBatchNormPass : ingot::impl::FoldBatchNormBase<FoldBatchNormPass> {
  using FoldBatchNormBase::FoldBatchNormBase;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    // First fold into all producers that can absorb a normalization. The others
    // are folded into consumers, or stay.
    RewritePatternSet backward(context), forward(context);
    backward.add<FoldBiasBelow>(context);
    backward.add<FoldIntoProducer<nn::BatchNormOp>>(context, numFolded);
    forward.add<FoldIntoConsumer>(context, numFoldedForward);
    forward.add<ToScaleAndShift>(context, numScaleShift);
    if (failed(rewriteGreedily(getOperation(), std::move(backward),
                               getArgument())) ||
        failed(
            rewriteGreedily(getOperation(), std::move(forward), getArgument())))
      signalPassFailure();
  }
};

} // namespace
