//===- ConvToWinograd.cpp - conv-to-winograd ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tiles of 4 x 4 pixels take a quarter of the products, those of 2 x 2 take
// 16/36. What is saved goes in part into the transforms, which few channels do
// not pay for, and into weights that are 4 or 16/9 times as large: they are
// read for each block of tiles, and lie in the artifact. `optimize` says how
// much time a byte must save.
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/CpuDialect.h"
#include "dialects/cpu/Winograd.h"
#include "dialects/ingot/IngotDialect.h"
#include "dialects/nn/Constants.h"
#include "dialects/nn/NNDialect.h"
#include "passes/cpu/lower/NNToCpu.h"
#include "passes/cpu/lower/NativeSupport.h"
#include "passes/cpu/lower/PackWeights.h"
#include "passes/cpu/lower/Passes.h"
#include "passes/cpu/lower/RecordPacking.h"
#include "passes/cpu/policy/Filtering.h"
#include "passes/cpu/policy/HalfProducts.h"
#include "passes/cpu/policy/Levels.h"
#include "passes/support/Rewrite.h"
#include "passes/support/Tensors.h"

#include "llvm/Support/MathExtras.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace ingot {
#define GEN_PASS_DEF_CONVTOWINOGRAD
#include "passes/cpu/lower/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using support::typeOf;

//===----------------------------------------------------------------------===//
// What it costs
//===----------------------------------------------------------------------===//

/// A byte of weights takes as long as so many operations: what a core reads
/// from behind its second-level cache, and what it multiplies.
static constexpr double kFlopsPerByte = 6;

/// Products of f16 take so many times less time than those of f32.
static constexpr double kHalfSpeed = 1.6;

/// What a block of fewer tiles does with weights is not worth reading them.
static constexpr int64_t kLeastRows = 12;

namespace {

/// A convolution as the costs depend on it.
struct Sizes {
  static constexpr int64_t kTaps = cpu::Winograd::kTaps * cpu::Winograd::kTaps;

  int64_t images, height, width, channels, columns;
  /// Of a weight as it is stored: 4, or 2.
  int64_t bytes;
  /// Whether f16 would be multiplied by f16 without the transforms.
  bool isHalf;

  double pixels() const { return double(images * height * width); }
  double direct() const {
    double weights = double(kTaps * channels * columns);
    double flops = 2 * pixels() / (isHalf ? kHalfSpeed : 1);
    return weights * (flops + double(bytes) * kFlopsPerByte);
  }
  double addedBytes(const cpu::Winograd &transform) const {
    return double((transform.positions() - kTaps) * channels * columns * bytes);
  }
  double with(const cpu::Winograd &transform) const {
    int64_t m = transform.outputs();
    double tiles = double(images * int64_t(llvm::divideCeil(height, m)) *
                          int64_t(llvm::divideCeil(width, m)));
    double weights = double(transform.positions() * channels * columns);
    return weights * (2 * tiles + double(bytes) * kFlopsPerByte) +
           tiles * double(channels + columns) * cpu::kTransformFlops[m / 4];
  }
};

} // namespace

/// Whether a block of tiles fits on the stack. Sums of f16 are faster than
/// tiles of 2 x 2.
static bool fits(const Sizes &sizes, const cpu::Winograd &transform) {
  constexpr int64_t kColumns = 32;
  return kLeastRows * transform.bytes(sizes.channels, kColumns) <=
             cpu::kMaxWinogradBytes &&
         (transform.outputs() == 2
              ? !sizes.isHalf
              : transform.positions() * sizes.channels * sizes.columns * 4 <=
                    cpu::kMostBytesOfFour);
}

/// The tiles that take the least time, if that is much less than without, and
/// enough for the bytes that they add.
static std::optional<cpu::Winograd> chooseTiles(const Sizes &sizes,
                                                OptimizeFor goal) {
  constexpr double kWorth = 0.85;
  double direct = sizes.direct(), least = direct;
  std::optional<cpu::Winograd> best;
  for (int64_t outputs : {2, 4}) {
    cpu::Winograd transform(outputs);
    double time = sizes.with(transform);
    double cost = time + requiredGain(goal, sizes.addedBytes(transform));
    if (!fits(sizes, transform) || time >= kWorth * direct || cost >= least)
      continue;
    least = cost;
    best = transform;
  }
  return best;
}

//===----------------------------------------------------------------------===//
// The pattern
//===----------------------------------------------------------------------===//

static Reason whyNotFiltering(nn::ConvOp op) {
  if (Reason reason = cpu::whyNotToCpu(op))
    return reason;
  if (!nn::getConstant(op.getW()))
    return "has weights that are not constant";
  if (Reason reason = cpu::whyNotThreeByThree(op))
    return reason;
  for (Value value : {op.getX(), op.getW()})
    if (!typeOf(value).getElementType().isF32())
      return "is not of f32";
  if (isBF16(op))
    return "is of bf16";
  return std::nullopt;
}

/// The weights, transformed, and rounded where they are stored as f16. Null for
/// other than numbers, and for those that f16 does not hold.
static ElementsAttr packWeights(nn::ConvOp op, const cpu::Winograd &transform) {
  ElementsAttr weights = nn::getConstant(op.getW());
  // The convolution as it is written tells the user.
  if (weights && isFP16(op) && cpu::findBeyondF16(weights))
    return {};
  ElementsAttr packed = cpu::packWinogradWeights(weights, transform.outputs());
  if (!packed || !isFP16(op))
    return packed;
  return cpu::findBeyondF16(packed) ? ElementsAttr() : cpu::roundToF16(packed);
}

namespace {

struct ConvToWinograd : OpRewritePattern<nn::ConvOp> {
  ConvToWinograd(MLIRContext *context, bool halfSums, OptimizeFor goal)
      : OpRewritePattern(context), halfSums(halfSums), goal(goal) {}

  LogicalResult matchAndRewrite(nn::ConvOp op,
                                PatternRewriter &rewriter) const override {
    if (Reason reason = whyNotFiltering(op))
      return rewriter.notifyMatchFailure(op, *reason);
    RankedTensorType type = op.getY().getType();
    auto usual = [&](int64_t i, int64_t size) {
      return type.isDynamicDim(i) ? size : type.getDimSize(i);
    };
    std::optional<cpu::Winograd> transform = chooseTiles(
        {usual(0, 1), usual(1, cpu::kUsualPixels), usual(2, cpu::kUsualPixels),
         typeOf(op.getX()).getDimSize(3), type.getDimSize(3),
         isFP16(op) ? 2 : 4,
         halfSums && isFP16(op) && cpu::isWorthHalfSums(op)},
        goal);
    if (!transform)
      return rewriter.notifyMatchFailure(
          op, "takes as long with fewer products, or needs too many bytes");
    ElementsAttr packed = packWeights(op, *transform);
    if (!packed)
      return rewriter.notifyMatchFailure(
          op, "has weights without values, or beyond what float16 holds");
    Location loc = op.getLoc();
    Value weights =
        arith::ConstantOp::create(rewriter, op.getW().getLoc(), packed);
    Value destination = support::destinationOf(rewriter, op->getResult(0));
    SmallVector<Value> operands;
    if (op.getBias())
      operands.push_back(
          cpu::expandBias(rewriter, op.getBias(), type.getRank()));
    auto kernel = cpu::WinogradConvOp::create(
        rewriter, loc, type, op.getX(), weights, operands, destination,
        op.getPads(), /*schedule=*/{});
    cpu::buildEpilogue(rewriter, loc, kernel.getEpilogue(),
                       type.getElementType(), !operands.empty());
    cpu::recordPacking(kernel);
    rewriter.replaceOp(op, kernel);
    return success();
  }

  bool halfSums;
  OptimizeFor goal;
};

struct ConvToWinogradPass
    : ingot::impl::ConvToWinogradBase<ConvToWinogradPass> {
  using ConvToWinogradBase::ConvToWinogradBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ConvToWinograd>(
        &getContext(), cpu::addsHalfSums(getOperation(), precision), optimize);
    rewriteInOneWalk(getOperation(), std::move(patterns));
  }
};

} // namespace
