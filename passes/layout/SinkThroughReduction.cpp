//===- SinkThroughReduction.cpp - transposes below reductions -------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/layout/Sink.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::layout;
using namespace ingot::support;

/// Returns `perm` without the operand dimensions in `gone`, renumbered.
static Perm without(ArrayRef<int64_t> perm, ArrayRef<int64_t> gone) {
  Perm rest;
  for (int64_t dim : perm)
    if (!llvm::is_contained(gone, dim))
      rest.push_back(dim -
                     llvm::count_if(gone, [&](int64_t g) { return g < dim; }));
  return rest;
}

namespace {

struct SinkThroughReduce : SinkPattern<nn::ReduceOp> {
  using SinkPattern::SinkPattern;
  LogicalResult sink(nn::ReduceOp op, nn::TransposeOp transpose,
                     PatternRewriter &rewriter) const override {
    Perm perm(transpose.getPerm());
    Perm axes;
    for (int64_t axis : op.getAxes())
      axes.push_back(perm[axis]);
    llvm::sort(axes);
    Perm rest = op.getKeepDims() ? perm : without(perm, axes);
    auto sunk = cast<nn::ReduceOp>(
        replaceTransposed(rewriter, op, transpose.getX(), rest));
    sunk.setAxes(axes);
    return success();
  }
};

struct SinkThroughArgReduce : SinkPattern<nn::ArgReduceOp> {
  using SinkPattern::SinkPattern;
  LogicalResult sink(nn::ArgReduceOp op, nn::TransposeOp transpose,
                     PatternRewriter &rewriter) const override {
    Perm perm(transpose.getPerm());
    int64_t axis = perm[op.getAxis()];
    Perm rest = op.getKeepDims() ? perm : without(perm, axis);
    auto sunk = cast<nn::ArgReduceOp>(
        replaceTransposed(rewriter, op, transpose.getX(), rest));
    sunk.setAxis(axis);
    return success();
  }
};

/// Sinks a transpose below an op that has one axis and keeps the dimensions of
/// its operand.
template <typename Op>
struct SinkThroughAxis : SinkPattern<Op> {
  using SinkPattern<Op>::SinkPattern;
  LogicalResult sink(Op op, nn::TransposeOp transpose,
                     PatternRewriter &rewriter) const override {
    int64_t axis = transpose.getPerm()[op.getAxis()];
    replaceFirstOperand(rewriter, op, transpose, transpose.getPerm())
        .setAxis(axis);
    return success();
  }
};

/// Sinks a transpose below a normalization of the last dimensions, if the
/// transpose keeps these dimensions in place.
template <typename Op>
struct SinkThroughNorm : SinkPattern<Op> {
  using SinkPattern<Op>::SinkPattern;
  LogicalResult sink(Op op, nn::TransposeOp transpose,
                     PatternRewriter &rewriter) const override {
    ArrayRef<int64_t> perm = transpose.getPerm();
    for (int64_t i = op.getAxis(); i < int64_t(perm.size()); ++i)
      if (perm[i] != i)
        return rewriter.notifyMatchFailure(
            op, "is of dimensions that the transpose moves");
    replaceFirstOperand(rewriter, op, transpose, perm);
    return success();
  }
};

} // namespace

void layout::populateSinkThroughReduction(RewritePatternSet &patterns) {
  patterns.add<SinkThroughReduce, SinkThroughArgReduce,
               SinkThroughAxis<nn::SoftmaxOp>, SinkThroughAxis<nn::CumSumOp>,
               SinkThroughAxis<nn::TopKOp>, SinkThroughNorm<nn::LayerNormOp>,
               SinkThroughNorm<nn::RMSNormOp>>(patterns.getContext());
}
