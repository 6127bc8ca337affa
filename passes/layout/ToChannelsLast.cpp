//===- ToChannelsLast.cpp - nn-to-channels-last ---------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/NNDialect.h"
#include "passes/layout/Passes.h"
#include "passes/layout/Permutation.h"
#include "passes/support/Rewrite.h"


namespace ingot {
#define GEN_PASS_DEF_TOCHANNELSLAST
#include "passes/layout/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::layout;

/// Whether there are many groups, each of as many channels as a run says, which
/// are few then. Pixels of a row are the longest that lies side by side.
template <typename Op> static bool hasOpenGroups(Op op) {
  constexpr int64_t kMany = 8;
  if constexpr (std::is_same_v<Op, nn::ConvOp> ||
                std::is_same_v<Op, nn::ConvTransposeOp>)
    return int64_t(op.getGroups()) >= kMany &&
           !cast<RankedTensorType>(op.getW().getType()).hasStaticShape();
  return false;
}

/// Pooled rows of few pixels are shorter than vectors, channels are not.
template <typename Op> static bool isPoolingOfShortRows(Op op) {
  constexpr int64_t kShort = 32;
  if constexpr (!std::is_same_v<Op, nn::MaxPoolOp> &&
                !std::is_same_v<Op, nn::AvgPoolOp>)
    return false;
  auto type = cast<RankedTensorType>(op.getY().getType());
  return !type.isDynamicDim(type.getRank() - 1) &&
         type.getShape().back() < kShort;
}

/// Whether anything multiplies channels. Poolings and normalizations alone are
/// not worth the transposes at the model's edges.
static bool hasConvolutions(Operation *root) {
  return root
      ->walk([](Operation *op) {
        return isa<nn::ConvOp, nn::ConvTransposeOp>(op)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {

/// op(x) becomes transpose(op {channels_last}(transpose(x))).
template <typename Op>
struct ToChannelsLast : OpRewritePattern<Op> {
  ToChannelsLast(MLIRContext *context, bool always, Pass::Statistic &count)
      : OpRewritePattern<Op>(context), always(always), count(count) {}

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getY().getType());
    if (op.getChannelsLast() || type.getRank() < 3)
      return rewriter.notifyMatchFailure(op, "has its channels last already");
    if (hasOpenGroups(op))
      return rewriter.notifyMatchFailure(
          op, "has many groups of an open number of channels");
    if (!always && !isPoolingOfShortRows(op))
      return rewriter.notifyMatchFailure(op, "multiplies no channels");
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
    rewriter.replaceOpWithNewOp<nn::TransposeOp>(
        op, type, result.getY(), toChannelsFirst(type.getRank()));
    ++count;
    return success();
  }
  bool always;
  Pass::Statistic &count;
};

struct ToChannelsLastPass
    : ingot::impl::ToChannelsLastBase<ToChannelsLastPass> {
  using ToChannelsLastBase::ToChannelsLastBase;

  void runOnOperation() override {
    bool always = hasConvolutions(getOperation());
    RewritePatternSet patterns(&getContext());
    patterns
        .add<ToChannelsLast<nn::ConvOp>, ToChannelsLast<nn::ConvTransposeOp>,
             ToChannelsLast<nn::MaxPoolOp>, ToChannelsLast<nn::AvgPoolOp>,
             ToChannelsLast<nn::BatchNormOp>, ToChannelsLast<nn::GroupNormOp>,
             ToChannelsLast<nn::LRNOp>>(&getContext(), always, numChanged);
    if (failed(rewriteGreedily(getOperation(), std::move(patterns),
                               getArgument())))
      signalPassFailure();
  }
};

} // namespace
