//===- ClampBytes.cpp - nn-clamp-bytes ------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/NNDialect.h"
#include "dialects/nn/Scalars.h"
#include "passes/quantize/QuantizationParameters.h"
#include "passes/quantize/form/Passes.h"
#include "passes/support/Rewrite.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <algorithm>
#include <cmath>

namespace ingot {
#define GEN_PASS_DEF_CLAMPBYTES
#include "passes/quantize/form/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::quantize;

namespace {

/// The numbers that an activation leaves as they are.
struct Bounds {
  double min, max;
};

} // namespace

/// Returns the bounds of a relu or clamp, or nullopt.
static std::optional<Bounds> boundsOf(Operation *op) {
  if (isa_and_nonnull<nn::ReluOp>(op))
    return Bounds{0, std::numeric_limits<double>::infinity()};
  if (auto clamp = dyn_cast_or_null<nn::ClampOp>(op))
    return Bounds{clamp.getMin().convertToDouble(),
                  clamp.getMax().convertToDouble()};
  return std::nullopt;
}

/// Creates a clamp of `bytes`. Merges it with a clamp that computes `bytes`.
static Value clampBytes(OpBuilder &builder, Location loc, Value bytes,
                        Bounds bounds) {
  if (auto inner = bytes.getDefiningOp<nn::ClampOp>()) {
    bytes = inner.getX();
    for (double *bound : {&bounds.min, &bounds.max})
      *bound = std::min(std::max(*bound, inner.getMin().convertToDouble()),
                        inner.getMax().convertToDouble());
  }
  return nn::ClampOp::create(builder, loc, bytes.getType(), bytes,
                             builder.getF64FloatAttr(bounds.min),
                             builder.getF64FloatAttr(bounds.max));
}

namespace {

/// Replaces quantize(activation(dequantize(x))) by a clamp of x if both have
/// the same scale. The quantized bounds give equal bytes, since rounding keeps
/// the order of numbers.
struct ClampQuantized : OpRewritePattern<nn::QuantizeOp> {
  ClampQuantized(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(nn::QuantizeOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<Scale> scale = getScale(op);
    Operation *activation = op.getX().getDefiningOp();
    std::optional<Bounds> bounds = boundsOf(activation);
    if (!scale || !bounds)
      return rewriter.notifyMatchFailure(
          op, "is not of a relu or clamp, or has several scales");
    nn::DequantizeOp dequantize = getDequantize(activation->getOperand(0));
    Type element = op.getY().getType().getElementType();
    if (!dequantize || !nn::isByte(element) ||
        !(getScale(dequantize) == scale) ||
        dequantize.getX().getType() != op.getY().getType())
      return rewriter.notifyMatchFailure(
          activation, "is not of bytes with the scale of the result");
    auto [low, high] = rangeOf(element);
    auto quantized = [&, low = low, high = high](double number) {
      // The division is that of nn.quantize.
      const float quotient = float(number) / float(scale->scale);
      return std::clamp(std::nearbyint(double(quotient)) +
                            double(scale->zeroPoint),
                        double(low), double(high));
    };
    rewriter.replaceOp(
        op, clampBytes(rewriter, op.getLoc(), dequantize.getX(),
                       {quantized(bounds->min), quantized(bounds->max)}));
    ++count;
    return success();
  }

  Pass::Statistic &count;
};

/// Merges two clamps of bytes.
struct MergeByteClamps : OpRewritePattern<nn::ClampOp> {
  MergeByteClamps(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(nn::ClampOp op,
                                PatternRewriter &rewriter) const override {
    if (!nn::isByte(op.getY().getType().getElementType()) ||
        !op.getX().getDefiningOp<nn::ClampOp>())
      return rewriter.notifyMatchFailure(op, "is not of clamped bytes");
    rewriter.replaceOp(
        op, clampBytes(rewriter, op.getLoc(), op.getX(), *boundsOf(op)));
    ++count;
    return success();
  }

  Pass::Statistic &count;
};

struct ClampBytesPass : ingot::impl::ClampBytesBase<ClampBytesPass> {
  using ClampBytesBase::ClampBytesBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ClampQuantized, MergeByteClamps>(&getContext(), numClamped);
    if (failed(rewriteGreedily(getOperation(), std::move(patterns),
                               getArgument())))
      signalPassFailure();
  }
};

} // namespace
