//===- ConvToWinograd.cpp - conv-to-winograd ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Replaces 3x3 convolutions of f32 or f16 by Winograd's algorithm if this saves
// time according to the cost model (passes/cpu/policy/WinogradCost.h).
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/CpuDialect.h"
#include "dialects/cpu/Winograd.h"
#include "dialects/ingot/IngotDialect.h"
#include "dialects/nn/Constants.h"
#include "dialects/nn/NNDialect.h"
#include "passes/cpu/lower/CpuSupport.h"
#include "passes/cpu/lower/NNToCpu.h"
#include "passes/cpu/lower/PackWeights.h"
#include "passes/cpu/lower/Passes.h"
#include "passes/cpu/lower/RecordPacking.h"
#include "passes/cpu/policy/HalfPrecision.h"
#include "passes/cpu/policy/Levels.h"
#include "passes/cpu/policy/WinogradCost.h"
#include "passes/support/Convolutions.h"
#include "passes/support/Rewrite.h"
#include "passes/support/Tensors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace ingot {
#define GEN_PASS_DEF_CONVTOWINOGRAD
#include "passes/cpu/lower/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using support::typeOf;

static Reason whyNotWinograd(nn::ConvOp op) {
  if (Reason reason = cpu::whyNotToCpu(op))
    return reason;
  if (!nn::getConstant(op.getW()))
    return "has weights that are not constant";
  if (Reason reason = support::whyNotThreeByThree(op))
    return reason;
  for (Value value : {op.getX(), op.getW()})
    if (!typeOf(value).getElementType().isF32())
      return "is not of f32";
  if (isBF16(op))
    return "is of bf16";
  return std::nullopt;
}

/// Transforms the weights, and rounds them if they are stored as f16. Returns
/// null if a value is not finite or f16 cannot represent it.
static ElementsAttr packWeights(nn::ConvOp op, const cpu::Winograd &transform) {
  ElementsAttr weights = nn::getConstant(op.getW());
  // Leaves the error message about such weights to the direct convolution.
  if (weights && isFP16(op) && cpu::findBeyondF16(weights))
    return {};
  ElementsAttr packed = cpu::packWinogradWeights(weights, transform.outputs());
  if (!packed || !isFP16(op))
    return packed;
  return cpu::findBeyondF16(packed) ? ElementsAttr() : cpu::roundToF16(packed);
}

namespace {

struct ConvToWinograd : OpRewritePattern<nn::ConvOp> {
  ConvToWinograd(MLIRContext *context, bool halfSums, OptimizeFor goal,
                 const TargetInfo &target)
      : OpRewritePattern(context), halfSums(halfSums), goal(goal),
        target(target) {}

  LogicalResult matchAndRewrite(nn::ConvOp op,
                                PatternRewriter &rewriter) const override {
    if (Reason reason = whyNotWinograd(op))
      return rewriter.notifyMatchFailure(op, *reason);
    RankedTensorType type = op.getY().getType();
    Answer<std::optional<cpu::Winograd>> answer = cpu::chooseFloatTiles(
        cpu::WinogradSizes::of(op),
        {isFP16(op) ? 2 : 4, halfSums && isFP16(op) && cpu::isWorthF16Sums(op)},
        goal, target);
    ElementsAttr packed =
        answer.choice ? packWeights(op, *answer.choice) : ElementsAttr();
    if (answer.choice && !packed)
      answer = {std::nullopt,
                "has weights without values, or beyond what float16 holds",
                answer.alternatives};
    cpu::recordTiles(op, answer);
    if (!packed)
      return rewriter.notifyMatchFailure(op, answer.reason);
    Location loc = op.getLoc();
    Value weights =
        arith::ConstantOp::create(rewriter, op.getW().getLoc(), packed);
    Value destination = support::destinationOf(rewriter, op->getResult(0));
    SmallVector<Value> operands;
    if (op.getBias())
      operands.push_back(
          support::expandVector(rewriter, op.getBias(), type.getRank()));
    auto kernel = cpu::WinogradConvOp::create(
        rewriter, loc, type, op.getX(), weights, operands, destination,
        op.getPads(),
        cpu::WeightsAttr::get(op.getContext(), cpu::WeightsKind::winograd,
                              answer.choice->outputs()),
        /*schedule=*/{});
    cpu::buildEpilogue(rewriter, loc, kernel.getEpilogue(),
                       type.getElementType(), !operands.empty());
    cpu::recordPacking(kernel);
    rewriter.replaceOp(op, kernel);
    return success();
  }

  bool halfSums;
  OptimizeFor goal;
  TargetInfo target;
};

struct ConvToWinogradPass
    : ingot::impl::ConvToWinogradBase<ConvToWinogradPass> {
  using ConvToWinogradBase::ConvToWinogradBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ConvToWinograd>(&getContext(),
                                 cpu::addsF16Sums(getOperation(), precision),
                                 optimize, cpu::lowestLevel(getOperation()));
    rewriteInOneWalk(getOperation(), std::move(patterns));
  }
};

} // namespace
