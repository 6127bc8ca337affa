//===- ToChannelsLast.cpp - nn-to-channels-last ---------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/NNDialect.h"
#include "passes/backend/Policy.h"
#include "passes/layout/Passes.h"
#include "passes/support/Permutation.h"
#include "passes/support/Rewrite.h"

namespace ingot {
#define GEN_PASS_DEF_TOCHANNELSLAST
#include "passes/layout/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::support;

namespace {

/// Replaces op(x) by transpose(op {channels_last}(transpose(x))).
template <typename Op>
struct ToChannelsLast : OpRewritePattern<Op> {
  ToChannelsLast(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern<Op>(context), count(count) {}

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getY().getType());
    if (op.getChannelsLast() || type.getRank() < 3)
      return rewriter.notifyMatchFailure(op, "has its channels last already");
    Answer<Layout> answer = Policy::of(op).layOut(op);
    if (answer.choice == Layout::channelsFirst) {
      record(op, Question::layout, "channels first", answer.reason,
             answer.alternatives);
      return rewriter.notifyMatchFailure(op, answer.reason);
    }
    Location loc = op.getLoc();
    Perm last = toChannelsLast(type.getRank());
    auto x = cast<RankedTensorType>(op.getX().getType());
    SmallVector<Value> operands(op->getOperands());
    operands[0] = nn::TransposeOp::create(rewriter, loc, permute(x, last),
                                          op.getX(), last);
    auto result =
        cast<Op>(rewriter.create(loc, op->getName().getIdentifier(), operands,
                                 Type(permute(type, last)), op->getAttrs()));
    result.setChannelsLast(true);
    record(result, Question::layout, "channels last", answer.reason,
           answer.alternatives);
    rewriter.replaceOpWithNewOp<nn::TransposeOp>(
        op, type, result.getY(), toChannelsFirst(type.getRank()));
    ++count;
    return success();
  }
  Pass::Statistic &count;
};

struct ToChannelsLastPass
    : ingot::impl::ToChannelsLastBase<ToChannelsLastPass> {
  using ToChannelsLastBase::ToChannelsLastBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns
        .add<ToChannelsLast<nn::ConvOp>, ToChannelsLast<nn::ConvTransposeOp>,
             ToChannelsLast<nn::MaxPoolOp>, ToChannelsLast<nn::AvgPoolOp>,
             ToChannelsLast<nn::BatchNormOp>, ToChannelsLast<nn::GroupNormOp>,
             ToChannelsLast<nn::LRNOp>>(&getContext(), numChanged);
    if (failed(rewriteGreedily(getOperation(), std::move(patterns),
                               getArgument())))
      signalPassFailure();
  }
};

} // namespace
