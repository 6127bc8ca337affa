//===- FoldPad.cpp - nn-fold-pad ------------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"
#include "passes/graph/Passes.h"
#include "passes/support/Rewrite.h"
#include "passes/support/ScaleShift.h"


namespace ingot {
#define GEN_PASS_DEF_FOLDPAD
#include "passes/graph/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::support;

/// Returns the value that an op with windows pads with.
static double paddingOf(nn::ConvOp op) { return op.getXZeroPoint(); }
static double paddingOf(nn::AvgPoolOp) { return 0; }
static double paddingOf(nn::MaxPoolOp) {
  return -std::numeric_limits<double>::infinity();
}

/// Returns true if padding elements take part in the result like data elements.
static bool countsPadding(nn::ConvOp) { return true; }
static bool countsPadding(nn::MaxPoolOp) { return true; }
static bool countsPadding(nn::AvgPoolOp op) {
  // A pool without padding has nothing to count yet, so the flag can be set.
  return op.getCountIncludePad() ||
         llvm::all_of(op.getPads(), [](int64_t pad) { return pad == 0; });
}

static void setCountsPadding(nn::AvgPoolOp op) { op.setCountIncludePad(true); }
template <typename Op> static void setCountsPadding(Op) {}

/// Returns true if a window may contain only padding. The maximum of such a
/// window is the value of the pad. The pool's own padding would give another
/// value.
static bool mayMissData(nn::MaxPoolOp op, ArrayRef<int64_t> pads) {
  size_t n = op.getKernel().size();
  for (size_t i = 0; i < n; ++i) {
    int64_t span = op.getDilations()[i] * (op.getKernel()[i] - 1) + 1;
    if (op.getDilations()[i] != 1 || pads[i] >= span || pads[n + i] >= span)
      return true;
  }
  return false;
}
template <typename Op> static bool mayMissData(Op, ArrayRef<int64_t>) {
  return false;
}

namespace {

template <typename Op> struct FoldPad : OpRewritePattern<Op> {
  FoldPad(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern<Op>(context), count(count) {}

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    auto pad = op.getX().template getDefiningOp<nn::PadOp>();
    if (!pad || pad.getMode() != nn::PadMode::constant)
      return rewriter.notifyMatchFailure(op, "is not of padded data");
    if (!countsPadding(op))
      return rewriter.notifyMatchFailure(op, "does not count its own padding");
    std::optional<double> value = nn::getSplat(pad.getValue());
    if (!value)
      return rewriter.notifyMatchFailure(pad, "pads with a computed value");
    double lowest = paddingOf(op);
    bool same = *value == lowest ||
                (std::isinf(lowest) &&
                 *value <= -double(std::numeric_limits<float>::max()));
    // Data that are not negative have the same maxima with zeros as padding as
    // with the lowest value as padding.
    if (isa<nn::MaxPoolOp>(op) && *value == 0)
      same = pad.getX().template getDefiningOp<nn::ReluOp>() != nullptr;
    if (!same)
      return rewriter.notifyMatchFailure(
          pad, "pads with another value than its user");

    int64_t rank = typeOf(op.getX()).getRank();
    int64_t channel = channelDim(rank, op.getChannelsLast());
    SmallVector<int64_t> pads(op.getPads());
    size_t n = rank - 2, next = 0;
    for (int64_t i = 0; i < rank; ++i) {
      int64_t low = pad.getLow()[i], high = pad.getHigh()[i];
      bool spatial = i != 0 && i != channel;
      if (low < 0 || high < 0 || (!spatial && (low != 0 || high != 0)))
        return rewriter.notifyMatchFailure(
            pad, "crops, or pads samples or channels");
      if (!spatial)
        continue;
      pads[next] += low;
      pads[n + next++] += high;
    }
    if (mayMissData(op, pads))
      return rewriter.notifyMatchFailure(
          op, "would have windows of padding alone");
    rewriter.modifyOpInPlace(op, [&] {
      op->setLoc(rewriter.getFusedLoc({pad.getLoc(), op.getLoc()}));
      op.getXMutable().assign(pad.getX());
      op.setPads(pads);
      if (llvm::any_of(pads, [](int64_t p) { return p != 0; }))
        setCountsPadding(op);
    });
    ++count;
    return success();
  }
  Pass::Statistic &count;
};

struct FoldPadPass : ingot::impl::FoldPadBase<FoldPadPass> {
  using FoldPadBase::FoldPadBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FoldPad<nn::ConvOp>, FoldPad<nn::AvgPoolOp>,
                 FoldPad<nn::MaxPoolOp>>(&getContext(), numFolded);
    if (failed(rewriteGreedily(getOperation(), std::move(patterns),
                               getArgument())))
      signalPassFailure();
  }
};

} // namespace
