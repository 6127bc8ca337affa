//===- FoldRequantize.cpp - nn-fold-requantize ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"
#include "passes/quantize/Quantized.h"
#include "passes/quantize/form/Passes.h"
#include "passes/support/Rewrite.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <algorithm>
#include <cmath>

namespace ingot {
#define GEN_PASS_DEF_FOLDREQUANTIZE
#include "passes/quantize/form/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::quantize;

/// As many ops between a product and its quantize are looked through.
static constexpr int kMaxDepth = 16;

/// Larger constants would be stored a second time.
static constexpr int64_t kMaxElements = 1 << 16;

static bool isSmallConstant(Value value) {
  return nn::getConstant(value) &&
         typeOf(value).getNumElements() <= kMaxElements &&
         typeOf(value).getElementType().isF32();
}

/// Whether f32 holds `number` times `factor` as well as it holds `number`.
static bool holdsProduct(double number, double factor) {
  return number == 0 || !std::isfinite(number) ||
         std::isnormal(float(number * factor));
}

static bool takesFactor(Value value, double factor, int depth = 0);

/// The operand of a product that takes the factor, the one of fewer numbers if
/// both do; null if none does.
static OpOperand *factorOf(nn::MulOp op, double factor, int depth) {
  OpOperand *a = &op->getOpOperand(0), *b = &op->getOpOperand(1);
  if (isSmallConstant(a->get()) ||
      (!isSmallConstant(b->get()) && typeOf(a->get()).hasStaticShape() &&
       typeOf(b->get()).hasStaticShape() &&
       typeOf(a->get()).getNumElements() < typeOf(b->get()).getNumElements()))
    std::swap(a, b);
  for (OpOperand *operand : {b, a})
    if (takesFactor(operand->get(), factor, depth + 1))
      return operand;
  return nullptr;
}

/// The weights and the bias of a product of floats: times a factor they give
/// its result times that. Empty if `op` is none.
static SmallVector<OpOperand *> weightsOf(Operation *op) {
  SmallVector<OpOperand *> weights;
  if (isa<nn::ConvOp, nn::MatMulOp>(op) &&
      typeOf(op->getResult(0)).getElementType().isF32())
    for (OpOperand &operand : op->getOpOperands())
      if (operand.getOperandNumber() != 0)
        weights.push_back(&operand);
  return weights;
}

/// Whether `value` times a positive constant is one of other constants, by
/// which no op more is needed, and which f32 holds.
static bool takesFactor(Value value, double factor, int depth) {
  if (isSmallConstant(value))
    return llvm::all_of(*nn::getConstantDoubles(value), [&](double number) {
      return holdsProduct(number, factor);
    });
  Operation *op = value.getDefiningOp();
  if (!op || !value.hasOneUse() || depth > kMaxDepth)
    return false;
  if (auto mul = dyn_cast<nn::MulOp>(op))
    return factorOf(mul, factor, depth) != nullptr;
  if (isa<nn::AddOp, nn::SubOp>(op))
    return llvm::all_of(op->getOperands(), [&](Value operand) {
      return takesFactor(operand, factor, depth + 1);
    });
  if (auto clamp = dyn_cast<nn::ClampOp>(op);
      clamp && (!holdsProduct(clamp.getMin().convertToDouble(), factor) ||
                !holdsProduct(clamp.getMax().convertToDouble(), factor)))
    return false;
  if (SmallVector<OpOperand *> weights = weightsOf(op); !weights.empty())
    return llvm::all_of(weights, [&](OpOperand *operand) {
      return takesFactor(operand->get(), factor, depth + 1);
    });
  return isa<nn::ReluOp, nn::ClampOp, nn::LeakyReluOp>(op) &&
         takesFactor(op->getOperand(0), factor, depth + 1);
}

/// `value` times `factor`, for one that takesFactor says so of.
static Value scaled(PatternRewriter &rewriter, Value value, double factor) {
  if (nn::getConstant(value)) {
    std::vector<double> numbers = *nn::getConstantDoubles(value);
    for (double &number : numbers)
      number *= factor;
    return nn::makeConstant(rewriter, value.getLoc(), typeOf(value), numbers);
  }
  Operation *op = value.getDefiningOp();
  SmallVector<Value> operands(op->getOperands());
  if (auto mul = dyn_cast<nn::MulOp>(op)) {
    unsigned number = factorOf(mul, factor, /*depth=*/0)->getOperandNumber();
    operands[number] = scaled(rewriter, operands[number], factor);
  } else if (SmallVector<OpOperand *> weights = weightsOf(op);
             !weights.empty()) {
    for (OpOperand *operand : weights)
      operands[operand->getOperandNumber()] =
          scaled(rewriter, operand->get(), factor);
  } else {
    for (Value &operand : operands)
      operand = scaled(rewriter, operand, factor);
  }
  Operation *result = rewriter.clone(*op);
  result->setOperands(operands);
  if (auto clamp = dyn_cast<nn::ClampOp>(result)) {
    auto times = [&](APFloat bound) {
      return APFloat(bound.convertToDouble() * factor);
    };
    clamp.setMin(times(clamp.getMin()));
    clamp.setMax(times(clamp.getMax()));
  }
  return result->getResult(0);
}

/// Returns whether `value` is made of sums of a product, whose last bits depend
/// on their order. Other numbers are bytes times a scale, or what a model is
/// given: these lie between two steps on purpose, and a quotient of them has to
/// be rounded as it is defined.
static bool isOfSums(Value value, int depth = 0) {
  Operation *op = value.getDefiningOp();
  if (!op || depth > kMaxDepth)
    return false;
  if (isa<nn::ConvOp, nn::ConvTransposeOp, nn::MatMulOp, nn::PackedMatMulOp>(
          op))
    return true;
  return isa<nn::AddOp, nn::CastOp, nn::ClampOp, nn::LeakyReluOp, nn::MulOp,
             nn::ReluOp, nn::ReshapeOp, nn::SubOp, nn::TransposeOp>(op) &&
         llvm::any_of(op->getOperands(), [&](Value operand) {
           return isOfSums(operand, depth + 1);
         });
}

static bool isNormalized(Value value) {
  return isa_and_nonnull<nn::SoftmaxOp, nn::LayerNormOp, nn::RMSNormOp,
                         nn::GroupNormOp>(value.getDefiningOp());
}

/// Returns whether `value` is a function that is only known to the last bits,
/// or a product with a norm, so that no number lies between two steps on
/// purpose. A swish, a GELU or an ELU is none: it is x itself for a large x.
static bool isOfFunction(Value value) {
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<nn::MulOp>(op))
    return llvm::any_of(op->getOperands(), isNormalized);
  return isNormalized(value) ||
         isa_and_nonnull<nn::SigmoidOp, nn::TanhOp, nn::ErfOp>(op);
}

/// Whether nobody reads a result of `op`, or of those who do.
static bool isUnread(Operation *op, int depth = 0) {
  return depth <= kMaxDepth && wouldOpBeTriviallyDead(op) &&
         llvm::all_of(op->getUsers(), [&](Operation *user) {
           return isUnread(user, depth + 1);
         });
}

/// A hard sigmoid times `factor`: max(0, min(factor, x (alpha factor) + beta
/// factor)).
static Value scaledHardSigmoid(PatternRewriter &rewriter, nn::HardSigmoidOp op,
                               double factor) {
  Location loc = op.getLoc();
  RankedTensorType type = op.getType();
  auto times = [&](APFloat number) {
    return nn::makeScalar(rewriter, loc, rewriter.getF32Type(),
                          number.convertToDouble() * factor);
  };
  Value line = nn::MulOp::create(rewriter, loc, type, op.getX(),
                                 times(op.getAlpha()));
  line = nn::AddOp::create(rewriter, loc, type, line, times(op.getBeta()));
  return nn::ClampOp::create(rewriter, loc, line,
                             rewriter.getF64FloatAttr(0),
                             rewriter.getF64FloatAttr(double(float(factor))));
}

/// What saturates and an activation before it, of which the scale is gone, are
/// one clamp.
static void mergeClamps(PatternRewriter &rewriter, nn::ClampOp op) {
  auto inner = op.getX().getDefiningOp<nn::ClampOp>();
  if (!inner || inner.getX().getType() != op.getX().getType())
    return;
  double min = op.getMin().convertToDouble(),
         max = op.getMax().convertToDouble();
  auto within = [&](APFloat bound) {
    return APFloat(std::clamp(bound.convertToDouble(), min, max));
  };
  rewriter.modifyOpInPlace(op, [&] {
    op.getXMutable().assign(inner.getX());
    op.setMin(within(inner.getMin()));
    op.setMax(within(inner.getMax()));
  });
}

namespace {

/// round(x / scale) → round(x'), where x is made of sums, with constants of x'
/// that are divided by scale; for functions round(x (1 / scale)), which a core
/// multiplies in a tenth of the time.
struct FoldIntoConstants : OpRewritePattern<nn::RoundOp> {
  FoldIntoConstants(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(nn::RoundOp op,
                                PatternRewriter &rewriter) const override {
    // What saturates it may stand between.
    auto clamp = op.getX().getDefiningOp<nn::ClampOp>();
    Value quotient = clamp ? clamp.getX() : op.getX();
    auto division = quotient.getDefiningOp<nn::DivOp>();
    std::optional<double> scale =
        division ? nn::getSplat(division.getB()) : std::nullopt;
    if (!scale || !(*scale > 0) || !std::isnormal(1 / *scale) ||
        typeOf(division.getB()).getRank() != 0)
      return rewriter.notifyMatchFailure(op, "is not of a constant scale");
    if (isOfFunction(division.getA()) && division.getA().getType() ==
                                             division->getResult(0).getType() &&
        typeOf(division.getA()).getElementType().isF32()) {
      rewriter.setInsertionPoint(division);
      Value inverse =
          nn::makeScalar(rewriter, division.getLoc(), rewriter.getF32Type(),
                         1 / *scale);
      rewriter.replaceAllUsesWith(
          division.getResult(),
          nn::MulOp::create(rewriter, division.getLoc(), division.getA(),
                            inverse)
              ->getResult(0));
      ++count;
      return success();
    }
    auto sigmoid = division.getA().getDefiningOp<nn::HardSigmoidOp>();
    // Of words that are stored a step more or less would be seen.
    if (sigmoid && typeOf(sigmoid).getElementType().isF32() &&
        llvm::all_of(op->getUsers(), [](Operation *user) {
          return isa<nn::MulOp>(user) || isUnread(user);
        })) {
      rewriter.setInsertionPoint(division);
      rewriter.replaceAllUsesWith(
          division.getResult(),
          scaledHardSigmoid(rewriter, sigmoid, 1 / *scale));
      if (clamp)
        mergeClamps(rewriter, clamp);
      ++count;
      return success();
    }
    if (!isOfSums(division.getA()))
      return rewriter.notifyMatchFailure(op, "divides no sums of a product");
    if (!division->hasOneUse() || !takesFactor(division.getA(), 1 / *scale) ||
        nn::getConstant(division.getA()))
      return rewriter.notifyMatchFailure(
          op, "divides what has no constants, or leaves none that f32 holds");
    rewriter.setInsertionPoint(division);
    Value x = scaled(rewriter, division.getA(), 1 / *scale);
    // Nobody reads the division any more; the walk erases matched ops only.
    rewriter.replaceAllUsesWith(division.getResult(), x);
    if (clamp)
      mergeClamps(rewriter, clamp);
    ++count;
    return success();
  }
  Pass::Statistic &count;
};

struct FoldRequantizePass
    : ingot::impl::FoldRequantizeBase<FoldRequantizePass> {
  using FoldRequantizeBase::FoldRequantizeBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FoldIntoConstants>(&getContext(), numFolded);
    rewriteInOneWalk(getOperation(), std::move(patterns));
  }
};

} // namespace
