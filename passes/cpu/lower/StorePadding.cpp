//===- StorePadding.cpp - nn-store-padding --------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels have code of their own for pixels at the ends of a row. With hundreds
// of taps, most pixels of a row are at an end, and each of them meets another
// number of taps.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"
#include "dialects/nn/NNDialect.h"
#include "passes/backend/Policy.h"
#include "passes/cpu/lower/CpuSupport.h"
#include "passes/cpu/lower/Passes.h"
#include "passes/cpu/policy/Thresholds.h"
#include "passes/support/Rewrite.h"
#include "passes/support/Shapes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace ingot {
#define GEN_PASS_DEF_STOREPADDING
#include "passes/cpu/lower/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;
using namespace ingot::support;
using support::typeOf;

/// Says why the kernel of `op` computes the padding as fast as it reads it.
static Reason whyNotStored(nn::ConvOp op) {
  ArrayRef<int64_t> weights = typeOf(op.getW()).getShape();
  const int64_t taps = weights.back();
  if (op.getGroups() != 1 || weights[1] > threshold::storedPaddingChannels)
    return "has groups or many channels";
  if (taps < threshold::storedPaddingTaps)
    return "has few taps in a row";
  const int64_t products = weights[0] *
                           support::productOf(weights.drop_front(2)) /
                           support::productOf(op.getStrides());
  if (products < threshold::storedPaddingProducts)
    return "uses each element in too few products to pay for copying it";
  return std::nullopt;
}

namespace {

struct StorePaddingOfConv : OpRewritePattern<nn::ConvOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::ConvOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<int64_t> pads(op.getPads());
    int64_t &before = pads[pads.size() / 2 - 1], &behind = pads.back();
    if (before + behind == 0)
      return rewriter.notifyMatchFailure(op, "has rows without padding");
    if (Reason reason = cpu::whyNotToCpu(op))
      return rewriter.notifyMatchFailure(op, *reason);
    if (!typeOf(op.getW()).hasStaticShape())
      return rewriter.notifyMatchFailure(op, "has weights of open size");
    if (Reason reason = whyNotStored(op))
      return rewriter.notifyMatchFailure(op, *reason);
    record(op, Question::padding, "stored",
           "has few channels and many taps in a row, so that most pixels of a "
           "row meet padding");
    RankedTensorType type = typeOf(op.getX());
    const int64_t row = type.getRank() - 2;
    SmallVector<int64_t> low(type.getRank(), 0), high(low),
        shape(type.getShape());
    low[row] = std::exchange(before, 0);
    high[row] = std::exchange(behind, 0);
    if (!ShapedType::isDynamic(shape[row]))
      shape[row] += low[row] + high[row];
    Value fill = nn::makeScalar(rewriter, op.getLoc(), type.getElementType(),
                                double(op.getXZeroPoint()));
    Value padded =
        nn::PadOp::create(rewriter, op.getLoc(), type.clone(shape), op.getX(),
                          fill, low, high, nn::PadMode::constant);
    rewriter.modifyOpInPlace(op, [&] {
      op.getXMutable().assign(padded);
      op.setPads(pads);
    });
    return success();
  }
};

struct StorePaddingPass : ingot::impl::StorePaddingBase<StorePaddingPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<StorePaddingOfConv>(&getContext());
    rewriteInOneWalk(getOperation(), std::move(patterns));
  }
};

} // namespace
