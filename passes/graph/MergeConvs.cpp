//===- MergeConvs.cpp - nn-merge-convs ------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"
#include "passes/graph/Passes.h"
#include "passes/graph/ScaleShift.h"
#include "passes/graph/LinearOperator.h"
#include "passes/support/Rewrite.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace ingot {
#define GEN_PASS_DEF_MERGECONVS
#include "passes/graph/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::graph;

/// Multiplications a sample; nullopt for unknown sizes.
static std::optional<double> costOf(const LinearOperator &map, nn::ConvOp op) {
  double positions = 1;
  for (auto [i, size] : llvm::enumerate(op.getType().getShape())) {
    int64_t rank = op.getType().getRank();
    if (i == 0 || int64_t(i) == channelDim(rank, op.getChannelsLast()))
      continue;
    if (ShapedType::isDynamic(size))
      return std::nullopt;
    positions *= size;
  }
  return double(map.numWeights()) * positions;
}

static constexpr StringLiteral kNotOne(
    "is not one convolution with what is before it");

namespace {

/// conv(conv(x)) as one conv, if that multiplies less.
struct MergeConvs : OpRewritePattern<nn::ConvOp> {
  MergeConvs(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(nn::ConvOp op,
                                PatternRewriter &rewriter) const override {
    auto first = op.getX().getDefiningOp<nn::ConvOp>();
    bool last = op.getChannelsLast();
    if (!first || !first->hasOneUse() || first.getChannelsLast() != last)
      return rewriter.notifyMatchFailure(
          op, "is not the only user of a convolution of its layout");
    Value x, middle;
    auto mapA = getLinearOperator(first, last, /*withWeights=*/false, x);
    auto mapB = getLinearOperator(op, last, /*withWeights=*/false, middle);
    auto map = mapA && mapB ? compose(*mapA, *mapB) : std::nullopt;
    if (!map)
      return rewriter.notifyMatchFailure(op, kNotOne);
    if (!pays(first, op, *mapA, *mapB, *map))
      return rewriter.notifyMatchFailure(op, "multiplies less apart");
    auto spatial = [&](Value value) {
      ArrayRef<int64_t> shape = typeOf(value).getShape().drop_front();
      return last ? shape.drop_back() : shape.drop_front();
    };
    auto pads = getPads(*map, spatial(x), spatial(op));
    if (!pads)
      return rewriter.notifyMatchFailure(op, "has sizes that no padding fits");
    mapA = getLinearOperator(first, last, /*withWeights=*/true, x);
    mapB = getLinearOperator(op, last, /*withWeights=*/true, middle);
    map = mapA && mapB ? compose(*mapA, *mapB) : std::nullopt;
    if (!map)
      return rewriter.notifyMatchFailure(op, kNotOne);

    Location loc = rewriter.getFusedLoc({first.getLoc(), op.getLoc()});
    SmallVector<int64_t> shape{map->outputs, map->inputsOfGroup()};
    SmallVector<int64_t> strides, dilations;
    for (const OperatorDim &dim : map->dims) {
      shape.push_back(dim.count);
      strides.push_back(dim.stride);
      dilations.push_back(dim.step);
    }
    Type elementType = op.getType().getElementType();
    Value weights = nn::makeConstant(
        rewriter, loc, RankedTensorType::get(shape, elementType), map->weights);
    Value bias;
    if (map->hasBias())
      bias = makeVector(rewriter, loc, elementType, map->bias);
    rewriter.replaceOpWithNewOp<nn::ConvOp>(op, op.getType(), x, weights, bias,
                                            strides, *pads, dilations,
                                            map->groups, last);
    ++count;
    return success();
  }

  static bool pays(nn::ConvOp first, nn::ConvOp second, const LinearOperator &mapA,
                   const LinearOperator &mapB, const LinearOperator &merged) {
    auto a = costOf(mapA, first), b = costOf(mapB, second);
    if (a && b)
      return *costOf(merged, second) <= *a + *b;
    // Sizes unknown, but no smaller for the first than for the second.
    return merged.numWeights() <= mapA.numWeights() + mapB.numWeights();
  }
  Pass::Statistic &count;
};

struct MergeConvsPass : ingot::impl::MergeConvsBase<MergeConvsPass> {
  using MergeConvsBase::MergeConvsBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<MergeConvs>(&getContext(), numMerged);
    if (failed(rewriteGreedily(getOperation(), std::move(patterns),
                               getArgument())))
      signalPassFailure();
  }
};

} // namespace
