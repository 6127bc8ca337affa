//===- RepeatChannels.cpp - nn-repeat-channels ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/NNDialect.h"
#include "passes/cpu/lower/CpuSupport.h"
#include "passes/cpu/lower/Passes.h"
#include "passes/support/Convolutions.h"
#include "passes/support/Rewrite.h"
#include "passes/support/Tensors.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace ingot {
#define GEN_PASS_DEF_REPEATCHANNELS
#include "passes/cpu/lower/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::support;
using support::typeOf;

/// Repeats each element of the last dimension `times` times.
static Value repeatLast(OpBuilder &builder, Location loc, Value x,
                        int64_t times) {
  RankedTensorType type = typeOf(x);
  int64_t rank = type.getRank();
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, x);
  sizes.push_back(builder.getIndexAttr(times));
  Value empty =
      tensor::EmptyOp::create(builder, loc, sizes, type.getElementType());
  Value copies = linalg::BroadcastOp::create(builder, loc, x, empty, {rank})
                     ->getResult(0);
  SmallVector<ReassociationIndices> groups;
  for (int64_t i = 0; i < rank; ++i)
    groups.push_back({i});
  groups.back().push_back(rank);
  return tensor::CollapseShapeOp::create(builder, loc, copies, groups);
}

namespace {

struct RepeatOfConv : OpRewritePattern<nn::ConvOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::ConvOp op,
                                PatternRewriter &rewriter) const override {
    ArrayRef<int64_t> weights = typeOf(op.getW()).getShape();
    int64_t groups = op.getGroups();
    if (!support::areRepeated(weights, groups))
      return rewriter.notifyMatchFailure(
          op, "has no groups of one channel with several outputs");
    if (Reason reason = cpu::whyNotToCpu(op))
      return rewriter.notifyMatchFailure(op, *reason);
    Value repeated = repeatLast(rewriter, op.getLoc(), op.getX(),
                                weights[0] / groups);
    rewriter.modifyOpInPlace(op, [&] {
      op.getXMutable().assign(repeated);
      op.setGroups(weights[0]);
    });
    return success();
  }
};

struct RepeatChannelsPass
    : ingot::impl::RepeatChannelsBase<RepeatChannelsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<RepeatOfConv>(&getContext());
    rewriteInOneWalk(getOperation(), std::move(patterns));
  }
};

} // namespace
