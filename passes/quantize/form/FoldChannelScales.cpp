//===- FoldChannelScales.cpp - nn-fold-channel-scales ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"
#include "dialects/nn/Scalars.h"
#include "passes/quantize/QuantizationParameters.h"
#include "passes/quantize/form/Passes.h"
#include "passes/support/Convolutions.h"
#include "passes/support/Rewrite.h"
#include "passes/support/ScaleShift.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

namespace ingot {
#define GEN_PASS_DEF_FOLDCHANNELSCALES
#include "passes/quantize/form/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::quantize;

namespace {

/// Scales of bytes, one for each channel, with one zero point.
struct ChannelScales {
  std::vector<double> scales;
  int64_t zeroPoint;
};

} // namespace

/// Returns the scales of `op`, whose operand and result have `type`. Returns
/// nullopt and sets `reason` if the op has other parameters.
template <typename Op>
static std::optional<ChannelScales> readScales(Op op, RankedTensorType type,
                                               StringRef &reason) {
  auto scales = nn::getConstantDoubles(op.getScale());
  auto zero = op.getZeroPoint() ? nn::getSplat(op.getZeroPoint()) : 0.0;
  reason = "has no constant scale for each channel";
  if (!scales || nn::getSplat(op.getScale()) || op.getAxis() != 1 ||
      typeOf(op.getScale()).getRank() != 1 ||
      !typeOf(op.getScale()).getElementType().isF32() ||
      int64_t(scales->size()) != type.getDimSize(1))
    return std::nullopt;
  reason = "has zero points that differ between channels";
  if (!zero)
    return std::nullopt;
  reason = "has a scale whose inverse f32 does not hold";
  if (llvm::any_of(*scales, [](double scale) {
        return scale <= 0 || !std::isnormal(float(1 / scale));
      }))
    return std::nullopt;
  return ChannelScales{std::move(*scales), int64_t(*zero)};
}

/// Returns true if clamping to [from, to] has no effect on the bytes of
/// `element` that a quantize computes.
static bool saturates(const ChannelScales &channels, Type element, double from,
                      double to) {
  auto [low, high] = rangeOf(element);
  const double least = double(low - channels.zeroPoint),
               most = double(high - channels.zeroPoint);
  return llvm::all_of(channels.scales, [&](double scale) {
    auto stepsOf = [&](double bound) {
      return std::nearbyint(float(bound) / float(scale));
    };
    return stepsOf(from) <= least && stepsOf(to) >= most;
  });
}

/// Returns the operand of `x` if `x` is an activation that has no effect on the
/// bytes. Otherwise returns `x`.
static Value skipActivation(Value x, const ChannelScales &channels,
                            Type element) {
  if (auto relu = x.getDefiningOp<nn::ReluOp>())
    return saturates(channels, element, 0, HUGE_VAL) ? relu.getX() : x;
  if (auto clamp = x.getDefiningOp<nn::ClampOp>())
    return saturates(channels, element, clamp.getMin().convertToDouble(),
                     clamp.getMax().convertToDouble())
               ? clamp.getX()
               : x;
  return x;
}

namespace {

/// Replaces quantize(x, scales) by quantize(x / scales, 1).
struct DivideFirst : OpRewritePattern<nn::QuantizeOp> {
  DivideFirst(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(nn::QuantizeOp op,
                                PatternRewriter &rewriter) const override {
    RankedTensorType type = typeOf(op.getX());
    Type element = op.getY().getType().getElementType();
    if (!type.getElementType().isF32() || !nn::isByte(element) ||
        type.getRank() < 3 || nn::getConstant(op.getX()))
      return rewriter.notifyMatchFailure(
          op, "does not quantize computed channels of f32 to bytes");
    StringRef reason;
    std::optional<ChannelScales> channels = readScales(op, type, reason);
    if (!channels)
      return rewriter.notifyMatchFailure(op, reason);
    Value x = skipActivation(op.getX(), *channels, element);
    x = nn::DivOp::create(rewriter, op.getLoc(), type, x,
                          support::makePerChannel(
                              rewriter, op.getLoc(), type.getElementType(),
                              type.getRank(), /*dim=*/1, channels->scales))
            ->getResult(0);
    rewriter.replaceOp(op, makeQuantize(rewriter, op.getLoc(), x, element,
                                        {1, channels->zeroPoint}));
    ++count;
    return success();
  }
  Pass::Statistic &count;
};

/// Folds the scales of the data of a depthwise convolution into the scales of
/// its weights.
struct ScaleWeights : OpRewritePattern<nn::ConvOp> {
  ScaleWeights(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(nn::ConvOp op,
                                PatternRewriter &rewriter) const override {
    auto data = op.getX().getDefiningOp<nn::DequantizeOp>();
    auto weights = op.getW().getDefiningOp<nn::DequantizeOp>();
    if (!support::isDepthwise(op) || op.getChannelsLast() || !data ||
        !weights || !op.getType().getElementType().isF32() ||
        !nn::isByte(typeOf(data.getX()).getElementType()))
      return rewriter.notifyMatchFailure(
          op, "is not depthwise, of dequantized bytes and weights");
    StringRef reason;
    std::optional<ChannelScales> channels =
        readScales(data, typeOf(data.getX()), reason);
    if (!channels)
      return rewriter.notifyMatchFailure(data, reason);
    auto scales = nn::getConstantDoubles(weights.getScale());
    auto zeros = weights.getZeroPoint()
                     ? nn::getConstantDoubles(weights.getZeroPoint())
                     : std::vector<double>{0};
    const size_t count = channels->scales.size();
    auto extend = [&](std::optional<std::vector<double>> &numbers) {
      if (numbers && numbers->size() == 1)
        numbers->resize(count, numbers->front());
      return numbers && numbers->size() == count;
    };
    const bool isOfOutputs =
        typeOf(weights.getScale()).getRank() == 0 ||
        (typeOf(weights.getScale()).getRank() == 1 && weights.getAxis() == 0);
    if (!isOfOutputs || !extend(scales) || !extend(zeros))
      return rewriter.notifyMatchFailure(
          weights, "has no constant scale for each output");
    for (auto [scale, ofData] : llvm::zip_equal(*scales, channels->scales))
      scale *= ofData;
    if (!llvm::all_of(*scales,
                      [](double scale) { return std::isnormal(float(scale)); }))
      return rewriter.notifyMatchFailure(
          weights, "has scales whose products f32 does not hold");
    Location loc = weights.getLoc();
    Value scaled = nn::DequantizeOp::create(
        rewriter, loc, weights.getY().getType(), weights.getX(),
        support::makeVector(rewriter, loc, rewriter.getF32Type(), *scales),
        support::makeVector(rewriter, loc,
                            typeOf(weights.getX()).getElementType(), *zeros),
        /*axis=*/0);
    Value steps =
        makeDequantize(rewriter, data.getLoc(), data.getX(),
                       rewriter.getF32Type(), {1, channels->zeroPoint});
    rewriter.modifyOpInPlace(op, [&] {
      op.getXMutable().assign(steps);
      op.getWMutable().assign(scaled);
    });
    ++this->count;
    return success();
  }
  Pass::Statistic &count;
};

struct FoldChannelScalesPass
    : ingot::impl::FoldChannelScalesBase<FoldChannelScalesPass> {
  using FoldChannelScalesBase::FoldChannelScalesBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<DivideFirst>(&getContext(), numDivided);
    patterns.add<ScaleWeights>(&getContext(), numFolded);
    rewriteInOneWalk(getOperation(), std::move(patterns));
  }
};

} // namespace
