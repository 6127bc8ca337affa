//===- MergeConvs.cpp - nn-merge-convs ------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"
#include "passes/graph/Passes.h"
#include "passes/graph/merge/LinearOperator.h"
#include "passes/support/Rewrite.h"
#include "passes/support/ScaleShift.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace ingot {
#define GEN_PASS_DEF_MERGECONVS
#include "passes/graph/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::graph;
using namespace ingot::support;

/// Returns the number of multiplications per sample; nullopt if a size is
/// unknown.
static std::optional<double> costOf(const LinearOperator &linear,
                                    nn::ConvOp op) {
  double positions = 1;
  for (auto [i, size] : llvm::enumerate(op.getType().getShape())) {
    int64_t rank = op.getType().getRank();
    if (i == 0 || int64_t(i) == channelDim(rank, op.getChannelsLast()))
      continue;
    if (ShapedType::isDynamic(size))
      return std::nullopt;
    positions *= size;
  }
  return double(linear.numWeights()) * positions;
}

static constexpr StringLiteral kNotOne(
    "is not one convolution with what is before it");

namespace {

/// Merges conv(conv(x)) into one convolution, if that needs fewer
/// multiplications.
struct MergeConvs : OpRewritePattern<nn::ConvOp> {
  MergeConvs(MLIRContext *context, Pass::Statistic &count, OptimizeFor goal)
      : OpRewritePattern(context), count(count), goal(goal) {}

  LogicalResult matchAndRewrite(nn::ConvOp op,
                                PatternRewriter &rewriter) const override {
    auto first = op.getX().getDefiningOp<nn::ConvOp>();
    bool last = op.getChannelsLast();
    if (!first || !first->hasOneUse() || first.getChannelsLast() != last)
      return rewriter.notifyMatchFailure(
          op, "is not the only user of a convolution of its layout");
    Value x, middle;
    auto linearA = getLinearOperator(first, last, /*withWeights=*/false, x);
    auto linearB = getLinearOperator(op, last, /*withWeights=*/false, middle);
    auto linear =
        linearA && linearB ? compose(*linearA, *linearB) : std::nullopt;
    if (!linear)
      return rewriter.notifyMatchFailure(op, kNotOne);
    if (!pays(first, op, *linearA, *linearB, *linear))
      return rewriter.notifyMatchFailure(
          op, "multiplies less apart, or in fewer bytes");
    auto spatial = [&](Value value) {
      ArrayRef<int64_t> shape = typeOf(value).getShape().drop_front();
      return last ? shape.drop_back() : shape.drop_front();
    };
    auto pads = getPads(*linear, spatial(x), spatial(op));
    if (!pads)
      return rewriter.notifyMatchFailure(op, "has sizes that no padding fits");
    linearA = getLinearOperator(first, last, /*withWeights=*/true, x);
    linearB = getLinearOperator(op, last, /*withWeights=*/true, middle);
    linear = linearA && linearB ? compose(*linearA, *linearB) : std::nullopt;
    if (!linear)
      return rewriter.notifyMatchFailure(op, kNotOne);

    Location loc = rewriter.getFusedLoc({first.getLoc(), op.getLoc()});
    SmallVector<int64_t> shape{linear->outputs, linear->inputsOfGroup()};
    SmallVector<int64_t> strides, dilations;
    for (const OperatorDim &dim : linear->dims) {
      shape.push_back(dim.count);
      strides.push_back(dim.stride);
      dilations.push_back(dim.step);
    }
    Type elementType = op.getType().getElementType();
    Value weights = nn::makeConstant(rewriter, loc,
                                     RankedTensorType::get(shape, elementType),
                                     linear->weights);
    Value bias;
    if (linear->hasBias())
      bias = makeVector(rewriter, loc, elementType, linear->bias);
    rewriter.replaceOpWithNewOp<nn::ConvOp>(op, op.getType(), x, weights, bias,
                                            strides, *pads, dilations,
                                            linear->groups, last);
    ++count;
    return success();
  }

  bool pays(nn::ConvOp first, nn::ConvOp second, const LinearOperator &linearA,
            const LinearOperator &linearB, const LinearOperator &merged) const {
    constexpr double kBytes = 4;
    auto a = costOf(linearA, first), b = costOf(linearB, second);
    const double addedWeights = double(merged.numWeights()) -
                                double(linearA.numWeights()) -
                                double(linearB.numWeights());
    if (a && b)
      return 2 * *costOf(merged, second) +
                 requiredGain(goal, addedWeights * kBytes) <=
             2 * (*a + *b);
    // The sizes are unknown, but the first result is at least as large as the
    // second. The merged convolution is therefore not slower if it adds no
    // weights.
    return addedWeights <= 0;
  }
  Pass::Statistic &count;
  OptimizeFor goal;
};

struct MergeConvsPass : ingot::impl::MergeConvsBase<MergeConvsPass> {
  using MergeConvsBase::MergeConvsBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<MergeConvs>(&getContext(), numMerged, optimize);
    if (failed(rewriteGreedily(getOperation(), std::move(patterns),
                               getArgument())))
      signalPassFailure();
  }
};

} // namespace
