//===- PadChannels.cpp - nn-pad-channels ----------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"
#include "dialects/nn/NNDialect.h"
#include "dialects/nn/Scalars.h"
#include "passes/backend/Policy.h"
#include "passes/quantize/form/Passes.h"
#include "passes/quantize/form/ProductOperands.h"
#include "passes/support/Rewrite.h"
#include "passes/support/Shapes.h"

#include "llvm/Support/MathExtras.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace ingot {
#define GEN_PASS_DEF_PADCHANNELS
#include "passes/quantize/form/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using support::typeOf;

/// Number of channels that one instruction multiplies.
static constexpr int64_t kGroup = 4;

/// Pads weights `O, C, …` with zeros from C to `channels` channels.
static Value padWeights(OpBuilder &builder, Value weights,
                        ArrayRef<int64_t> numbers, int64_t channels) {
  RankedTensorType type = typeOf(weights);
  SmallVector<int64_t> shape(type.getShape());
  const int64_t outputs = shape[0], own = shape[1],
                taps = support::productOf(type.getShape().drop_front(2));
  shape[1] = channels;
  std::vector<double> padded(outputs * channels * taps, 0);
  for (int64_t output = 0; output < outputs; ++output)
    std::copy_n(numbers.begin() + output * own * taps, own * taps,
                padded.begin() + output * channels * taps);
  return nn::makeConstant(builder, weights.getLoc(), type.clone(shape), padded);
}

namespace {

struct PadConv : OpRewritePattern<nn::ConvOp> {
  PadConv(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(nn::ConvOp op,
                                PatternRewriter &rewriter) const override {
    RankedTensorType type = typeOf(op.getX());
    if (!nn::isByte(type.getElementType()) || op.getGroups() != 1)
      return rewriter.notifyMatchFailure(op, "is none of bytes, or of groups");
    const int64_t rank = type.getRank();
    const int64_t dim = op.getChannelsLast() ? rank - 1 : 1;
    const int64_t channels = type.getDimSize(dim);
    if (ShapedType::isDynamic(channels) || channels % kGroup == 0)
      return rewriter.notifyMatchFailure(
          op, "has open channels, or whole groups of them");
    const Policy &policy = Policy::of(op);
    if (policy.multiplyBytesAsFloats(op).choice)
      return rewriter.notifyMatchFailure(op, "is multiplied as floats");
    Answer<bool> answer = policy.padChannels(op);
    auto weights = nn::getConstantInts(op.getW());
    if (answer.choice && !weights)
      answer = {false, "has weights that a run computes", answer.alternatives};
    else if (answer.choice && llvm::all_of(*weights, quantize::isSign))
      answer = {false, "has signs, which are bits", answer.alternatives};
    if (!record(op, Question::padding, answer, "groups of four channels",
                "channels as they are"))
      return rewriter.notifyMatchFailure(op, answer.reason);
    const int64_t padded = llvm::alignTo(channels, kGroup);
    SmallVector<int64_t> low(rank, 0), high(rank, 0), shape(type.getShape());
    high[dim] = padded - channels;
    shape[dim] = padded;
    // The value of the padding does not matter, because its weights are zero.
    Value zero =
        nn::makeScalar(rewriter, op.getLoc(), type.getElementType(), 0);
    Value x = nn::PadOp::create(rewriter, op.getLoc(), type.clone(shape),
                                op.getX(), zero, low, high,
                                nn::PadMode::constant);
    Value w = padWeights(rewriter, op.getW(), *weights, padded);
    rewriter.modifyOpInPlace(op, [&] {
      op.getXMutable().assign(x);
      op.getWMutable().assign(w);
    });
    ++count;
    return success();
  }

private:
  Pass::Statistic &count;
};

struct PadChannelsPass : ingot::impl::PadChannelsBase<PadChannelsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<PadConv>(&getContext(), numPadded);
    rewriteInOneWalk(getOperation(), std::move(patterns));
  }
};

} // namespace
