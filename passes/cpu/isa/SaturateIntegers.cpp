//===- SaturateIntegers.cpp - saturate-integers ---------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/Passes.h"
#include "passes/support/FloatBuilder.h"
#include "passes/support/Rewrite.h"
#include "passes/support/RunQuotients.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

namespace ingot {
#define GEN_PASS_DEF_SATURATEINTEGERS
#include "passes/cpu/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

/// The largest bound of a type that is saturated to. Its sum with a zero point
/// and a clamped quotient fits i32.
static constexpr int64_t kMaxBound = 1 << 16;

namespace {

/// A value that is rounded, moved by a zero point and saturated.
struct Saturation {
  math::RoundEvenOp round;
  /// The zero point of 8 bits that is added as a float, or null.
  Value zeroPoint;
  bool isSigned;
  int64_t low, high;

  static FailureOr<Saturation> find(Value value);
};

} // namespace

/// Returns the integer by which `Bound` limits `value`, and replaces `value` by
/// what is limited.
template <typename Bound>
static std::optional<int64_t> takeBound(Value &value) {
  auto op = value.getDefiningOp<Bound>();
  APFloat bound(0.f);
  if (!op || !value.hasOneUse() ||
      !matchPattern(op.getRhs(), m_ConstantFloat(&bound)) ||
      !bound.isInteger() || std::abs(bound.convertToFloat()) > kMaxBound)
    return std::nullopt;
  value = op.getLhs();
  return int64_t(bound.convertToFloat());
}

FailureOr<Saturation> Saturation::find(Value value) {
  Saturation found;
  std::optional<int64_t> high = takeBound<arith::MinimumFOp>(value),
                         low = takeBound<arith::MaximumFOp>(value);
  if (!high || !low || *low > *high)
    return failure();
  found.low = *low, found.high = *high;
  if (auto sum = value.getDefiningOp<arith::AddFOp>()) {
    Operation *zero = sum.getRhs().getDefiningOp();
    if (!sum->hasOneUse() ||
        !isa_and_nonnull<arith::UIToFPOp, arith::SIToFPOp>(zero) ||
        !getElementTypeOrSelf(zero->getOperand(0).getType()).isInteger(8))
      return failure();
    found.zeroPoint = zero->getOperand(0);
    found.isSigned = isa<arith::SIToFPOp>(zero);
    value = sum.getLhs();
  }
  found.round = value.getDefiningOp<math::RoundEvenOp>();
  if (!found.round || !found.round->hasOneUse())
    return failure();
  return found;
}

/// Returns true if `value` is divided by a number that a run computes.
static bool isQuotientOfRun(Value value) {
  auto division = value.getDefiningOp<arith::DivFOp>();
  return division && division->hasOneUse() &&
         !matchPattern(division.getRhs(), m_Constant());
}

namespace {

struct SaturateAsInteger : OpRewritePattern<arith::FPToSIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::FPToSIOp op,
                                PatternRewriter &rewriter) const override {
    auto from = dyn_cast<VectorType>(op.getIn().getType());
    if (!from || !from.getElementType().isF32() ||
        !getElementTypeOrSelf(op.getType()).isInteger(32))
      return rewriter.notifyMatchFailure(op, "is not of vectors, f32 to i32");
    FailureOr<Saturation> found = Saturation::find(op.getIn());
    if (failed(found))
      return rewriter.notifyMatchFailure(op, "saturates no rounded vector");
    if (!isQuotientOfRun(found->round.getOperand()))
      return rewriter.notifyMatchFailure(op, "divides by no number of the run");
    Location loc = op.getLoc();
    rewriter.setInsertionPoint(found->round);
    const elementary::FloatBuilder f{rewriter, loc, from, /*hasFMA=*/false};
    Value quotient = arith::MaximumFOp::create(
        rewriter, loc, found->round.getOperand(), f.number(-kMaxRunQuotient));
    quotient = arith::MinimumFOp::create(rewriter, loc, quotient,
                                         f.number(kMaxRunQuotient));
    rewriter.modifyOpInPlace(found->round, [&] {
      found->round.getOperandMutable().assign(quotient);
    });
    rewriter.setInsertionPoint(op);
    Type type = op.getType();
    Value whole =
        arith::FPToSIOp::create(rewriter, loc, type, found->round.getResult());
    if (found->zeroPoint) {
      Value zero = found->isSigned
                       ? Value(arith::ExtSIOp::create(rewriter, loc, type,
                                                      found->zeroPoint))
                       : Value(arith::ExtUIOp::create(rewriter, loc, type,
                                                      found->zeroPoint));
      whole = arith::AddIOp::create(rewriter, loc, whole, zero);
    }
    whole = arith::MaxSIOp::create(rewriter, loc, whole, f.integer(found->low));
    rewriter.replaceOpWithNewOp<arith::MinSIOp>(op, whole,
                                                f.integer(found->high));
    return success();
  }
};

struct SaturateIntegersPass
    : ingot::impl::SaturateIntegersBase<SaturateIntegersPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<SaturateAsInteger>(&getContext());
    rewriteInOneWalk(getOperation(), std::move(patterns));
  }
};

} // namespace
