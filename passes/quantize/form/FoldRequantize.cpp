//===- FoldRequantize.cpp - nn-fold-requantize ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"
#include "passes/quantize/QuantizationParameters.h"
#include "passes/quantize/form/Passes.h"
#include "passes/quantize/form/RoundedQuotient.h"
#include "passes/support/Rewrite.h"
#include "passes/support/ScaleShift.h"

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

/// Limit of ops to search between a product and its quantize.
static constexpr int kMaxDepth = 16;

/// Limit of the elements of folded constants. A folded constant is stored in
/// addition to the original one, so large constants are not folded.
static constexpr int64_t kMaxElements = 1 << 16;

static bool isSmallConstant(Value value) {
  return nn::getConstant(value) &&
         typeOf(value).getNumElements() <= kMaxElements &&
         typeOf(value).getElementType().isF32();
}

namespace {

/// The line of a hard sigmoid: max(0, min(1, x * slope + middle)).
struct Line {
  double slope, middle;

  static Line of(nn::HardSigmoidOp op) {
    return {op.getAlpha().convertToDouble(), op.getBeta().convertToDouble()};
  }
  bool takesFactor(double factor) const {
    return holdsProduct(slope, factor) && holdsProduct(middle, factor);
  }
};

} // namespace

/// The hard sigmoid by which a hard swish multiplies its operand.
static constexpr Line kGateOfHardSwish{1.0 / 6, 0.5};

/// Creates a hard sigmoid of `x` times `factor`: max(0, min(factor, x * (slope
/// * factor) + middle * factor)).
static Value scaledHardSigmoid(PatternRewriter &rewriter, Value x, Line line,
                               double factor) {
  Location loc = x.getLoc();
  auto times = [&](double number) {
    return nn::makeScalar(rewriter, loc, rewriter.getF32Type(),
                          number * factor);
  };
  Value y = nn::MulOp::create(rewriter, loc, typeOf(x), x, times(line.slope));
  y = nn::AddOp::create(rewriter, loc, typeOf(x), y, times(line.middle));
  return nn::ClampOp::create(rewriter, loc, y, rewriter.getF64FloatAttr(0),
                             rewriter.getF64FloatAttr(double(float(factor))));
}

static bool takesFactor(Value value, double factor, int depth = 0);

/// Returns the operand of a multiplication that can absorb the factor, or null.
/// If both operands can absorb it, returns the smaller operand.
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

/// Returns the weights and the bias of a float product. Scaling all these
/// operands scales the product's result. Returns an empty vector if `op` is not
/// such a product.
static SmallVector<OpOperand *> weightsOf(Operation *op) {
  SmallVector<OpOperand *> weights;
  if (isa<nn::ConvOp, nn::MatMulOp>(op) &&
      typeOf(op->getResult(0)).getElementType().isF32())
    for (OpOperand &operand : op->getOpOperands())
      if (operand.getOperandNumber() != 0)
        weights.push_back(&operand);
  return weights;
}

/// Returns true if changing constants is enough to multiply `value` by the
/// positive `factor`. No new op may be needed, and f32 must hold the new
/// constants.
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
  if (auto attention = dyn_cast<nn::ByteAttentionOp>(op))
    return holdsProduct(attention.getResultScale().convertToDouble(), factor);
  if (isa<nn::HardSwishOp, nn::HardSigmoidOp>(op) &&
      typeOf(value).getElementType().isF32()) {
    auto sigmoid = dyn_cast<nn::HardSigmoidOp>(op);
    return (sigmoid ? Line::of(sigmoid) : kGateOfHardSwish).takesFactor(factor);
  }
  return isa<nn::ReluOp, nn::ClampOp, nn::LeakyReluOp, nn::TransposeOp>(op) &&
         takesFactor(op->getOperand(0), factor, depth + 1);
}

/// Returns `value` times `factor`. Precondition: `takesFactor(value, factor)`.
static Value scaled(PatternRewriter &rewriter, Value value, double factor) {
  if (nn::getConstant(value)) {
    std::vector<double> numbers = *nn::getConstantDoubles(value);
    for (double &number : numbers)
      number *= factor;
    return nn::makeConstant(rewriter, value.getLoc(), typeOf(value), numbers);
  }
  Operation *op = value.getDefiningOp();
  SmallVector<Value> operands(op->getOperands());
  if (auto attention = dyn_cast<nn::ByteAttentionOp>(op)) {
    auto result = cast<nn::ByteAttentionOp>(rewriter.clone(*op));
    result.setResultScale(
        APFloat(float(attention.getResultScale().convertToDouble() * factor)));
    return result.getY();
  }
  if (auto sigmoid = dyn_cast<nn::HardSigmoidOp>(op))
    return scaledHardSigmoid(rewriter, sigmoid.getX(), Line::of(sigmoid),
                             factor);
  if (isa<nn::HardSwishOp>(op)) {
    Value x = operands[0];
    return nn::MulOp::create(
        rewriter, op->getLoc(), x,
        scaledHardSigmoid(rewriter, x, kGateOfHardSwish, factor));
  }
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

/// Returns true if `value` is computed from sums of a product. The last bits of
/// such sums depend on the order of additions anyway, so scaling may change
/// these bits. Other values are integers times a scale, or inputs of the model.
/// Such a value may lie exactly between two steps, so its quotient must be
/// rounded exactly as ONNX defines.
static bool isOfSums(Value value, int depth = 0) {
  Operation *op = value.getDefiningOp();
  if (!op || depth > kMaxDepth)
    return false;
  if (isa<nn::ByteAttentionOp, nn::ConvOp, nn::ConvTransposeOp, nn::MatMulOp,
          nn::PackedMatMulOp>(op))
    return true;
  return isa<nn::AddOp, nn::CastOp, nn::ClampOp, nn::EluOp, nn::GeluOp,
             nn::HardSwishOp, nn::LeakyReluOp, nn::MulOp, nn::ReluOp,
             nn::ReshapeOp, nn::SubOp, nn::SwishOp, nn::TransposeOp>(op) &&
         llvm::any_of(op->getOperands(), [&](Value operand) {
           return isOfSums(operand, depth + 1);
         });
}

static bool isNormalized(Value value) {
  return isa_and_nonnull<nn::SoftmaxOp, nn::LayerNormOp, nn::RMSNormOp,
                         nn::GroupNormOp>(value.getDefiningOp());
}

/// Returns true if `value` is a function whose last bits are inexact, or a
/// multiple of a normalized value. A model cannot rely on such a value lying
/// exactly between two steps. Swish, GELU and ELU do not qualify, because they
/// equal x for large x.
static bool isOfFunction(Value value) {
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<nn::MulOp>(op))
    return llvm::any_of(op->getOperands(), isNormalized);
  return isNormalized(value) ||
         isa_and_nonnull<nn::SigmoidOp, nn::TanhOp, nn::ErfOp>(op);
}

/// Returns true if the results of `op` have only users whose own results are
/// unused.
static bool isUnread(Operation *op, int depth = 0) {
  return depth <= kMaxDepth && wouldOpBeTriviallyDead(op) &&
         llvm::all_of(op->getUsers(), [&](Operation *user) {
           return isUnread(user, depth + 1);
         });
}

namespace {

/// Removes the division from round(x / scale). If x is computed from sums,
/// divides constants of x by the scale instead. If x has no such constants, or
/// is an inexact function, multiplies it by 1 / scale, which is faster than a
/// division.
struct FoldIntoConstants : OpRewritePattern<nn::RoundOp> {
  FoldIntoConstants(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(nn::RoundOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<RoundedQuotient> quotient = RoundedQuotient::find(op);
    if (!quotient || typeOf(quotient->division.getB()).getRank() != 0)
      return rewriter.notifyMatchFailure(op, "is not of a constant scale");
    auto [clamp, division, scale] = *quotient;
    rewriter.setInsertionPoint(division);
    FailureOr<Value> y = withoutDivision(op, *quotient, rewriter);
    if (failed(y))
      return failure();
    // Keep the unused division, because the walk may only erase matched ops.
    rewriter.replaceAllUsesWith(division.getResult(), *y);
    if (clamp)
      mergeClamps(rewriter, clamp);
    ++count;
    return success();
  }

private:
  /// Returns the quotient that `op` rounds, computed without a division.
  static FailureOr<Value> withoutDivision(nn::RoundOp op,
                                          RoundedQuotient quotient,
                                          PatternRewriter &rewriter) {
    Value x = quotient.division.getA();
    const double factor = 1 / quotient.scale;
    if (isOfFunction(x))
      return timesInverse(quotient, rewriter);
    auto sigmoid = x.getDefiningOp<nn::HardSigmoidOp>();
    // The new sigmoid may be off by one step, which must not reach stored
    // integers. Each user must therefore be a multiplication or unused.
    if (sigmoid && typeOf(sigmoid).getElementType().isF32() &&
        llvm::all_of(op->getUsers(), [](Operation *user) {
          return isa<nn::MulOp>(user) || isUnread(user);
        }))
      return scaledHardSigmoid(rewriter, sigmoid.getX(), Line::of(sigmoid),
                               factor);
    if (!isOfSums(x))
      return rewriter.notifyMatchFailure(op, "divides no sums of a product");
    if (!quotient.division->hasOneUse() || !takesFactor(x, factor) ||
        nn::getConstant(x))
      return timesInverse(quotient, rewriter);
    return scaled(rewriter, x, factor);
  }

  static FailureOr<Value> timesInverse(RoundedQuotient quotient,
                                       PatternRewriter &rewriter) {
    nn::DivOp division = quotient.division;
    RankedTensorType type = division.getType();
    if (division.getA().getType() != type || !type.getElementType().isF32())
      return rewriter.notifyMatchFailure(division, "divides no tensor of f32");
    Value inverse = nn::makeScalar(rewriter, division.getLoc(),
                                   rewriter.getF32Type(), 1 / quotient.scale);
    return Value(nn::MulOp::create(rewriter, division.getLoc(), type,
                                   division.getA(), inverse));
  }

  Pass::Statistic &count;
};

/// Multiplies by inverses instead of dividing by a constant for each channel.
/// The dividend is computed from sums, and the quotient is only rounded.
struct MultiplyByInverses : OpRewritePattern<nn::DivOp> {
  MultiplyByInverses(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(nn::DivOp op,
                                PatternRewriter &rewriter) const override {
    RankedTensorType type = op.getType();
    auto scales = type.getRank() > 1
                      ? support::getPerChannel(op.getB(), type, /*dim=*/1)
                      : std::nullopt;
    if (!type.getElementType().isF32() || op.getA().getType() != type ||
        nn::getSplat(op.getB()) || !scales ||
        llvm::any_of(*scales, [](double scale) {
          return scale <= 0 || !std::isnormal(float(1 / scale));
        }))
      return rewriter.notifyMatchFailure(
          op, "is not by a constant scale for each channel");
    if (!isOnlyRounded(op.getResult()))
      return rewriter.notifyMatchFailure(op, "is more than rounded");
    if (!isOfSums(op.getA()))
      return rewriter.notifyMatchFailure(op, "divides no sums of a product");
    for (double &scale : *scales)
      scale = 1 / scale;
    Value inverses =
        support::makePerChannel(rewriter, op.getLoc(), type.getElementType(),
                                type.getRank(), /*dim=*/1, *scales);
    rewriter.replaceOpWithNewOp<nn::MulOp>(op, type, op.getA(), inverses);
    ++count;
    return success();
  }

  static bool isOnlyRounded(Value value) {
    return llvm::all_of(value.getUsers(), [](Operation *user) {
      return isa<nn::RoundOp>(user) ||
             (isa<nn::ClampOp>(user) && isOnlyRounded(user->getResult(0)));
    });
  }
  Pass::Statistic &count;
};

struct FoldRequantizePass
    : ingot::impl::FoldRequantizeBase<FoldRequantizePass> {
  using FoldRequantizeBase::FoldRequantizeBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FoldIntoConstants, MultiplyByInverses>(&getContext(),
                                                        numFolded);
    rewriteInOneWalk(getOperation(), std::move(patterns));
  }
};

} // namespace
