//===- RoundToInteger.cpp - round-to-integer ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Scalars.h"
#include "passes/cpu/Passes.h"
#include "passes/support/FloatBuilder.h"
#include "passes/support/Rewrite.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SetVector.h"

namespace ingot {
#define GEN_PASS_DEF_ROUNDTOINTEGER
#include "passes/cpu/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

namespace {

struct RoundWhileConverting : OpRewritePattern<arith::FPToSIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::FPToSIOp op,
                                PatternRewriter &rewriter) const override {
    auto round = op.getIn().getDefiningOp<math::RoundEvenOp>();
    auto from = dyn_cast<VectorType>(op.getIn().getType());
    auto to = dyn_cast<VectorType>(op.getType());
    if (!round || !from || !to || !from.getElementType().isF32() ||
        !to.getElementType().isInteger(32))
      return rewriter.notifyMatchFailure(
          op, "is not of a rounded vector of f32 to i32");
    rewriter.replaceOpWithNewOp<LLVM::LrintOp>(op, to, round.getOperand());
    return success();
  }
};

/// Returns true if `value` is only used to compute integers, for which NaN may
/// give any integer. If `value` is NaN, all intermediate values are NaN, too.
bool becomesInteger(Value value) {
  llvm::SetVector<Operation *> users(value.user_begin(), value.user_end());
  for (size_t i = 0; i < users.size(); ++i) {
    Operation *user = users[i];
    if (isa<arith::FPToSIOp, LLVM::LrintOp>(user))
      continue;
    if (!isa<math::RoundEvenOp, arith::AddFOp, arith::SubFOp, arith::MulFOp,
             arith::DivFOp, arith::MaximumFOp, arith::MinimumFOp,
             arith::MaxNumFOp, arith::MinNumFOp, math::FmaOp>(user))
      return false;
    users.insert(user->user_begin(), user->user_end());
  }
  return true;
}

/// Replaces a maximum or minimum that propagates NaN by an op that need not.
template <typename From, typename To>
struct BoundNumbers : OpRewritePattern<From> {
  using OpRewritePattern<From>::OpRewritePattern;

  LogicalResult matchAndRewrite(From op,
                                PatternRewriter &rewriter) const override {
    if (!isa<VectorType>(op.getType()) || !becomesInteger(op.getResult()))
      return rewriter.notifyMatchFailure(
          op, "is not a vector that only becomes integers");
    rewriter.replaceOpWithNewOp<To>(op, op.getLhs(), op.getRhs());
    return success();
  }
};

/// Takes the maximum of a value and 0, and ignores the sign of zero. This needs
/// one instruction instead of three.
struct BoundByZero : OpRewritePattern<arith::MaximumFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::MaximumFOp op,
                                PatternRewriter &rewriter) const override {
    if (!matchPattern(op.getRhs(), m_AnyZeroFloat()))
      return rewriter.notifyMatchFailure(op, "is not bounded by zero");
    auto flags = op.getFastmath() | arith::FastMathFlags::nsz;
    if (flags == op.getFastmath())
      return rewriter.notifyMatchFailure(op, "may be any zero");
    rewriter.modifyOpInPlace(op, [&] { op.setFastmath(flags); });
    return success();
  }
};

/// A byte that becomes a float after a zero point is subtracted.
struct ReadByte {
  /// The integer that is narrowed to the byte.
  Value whole;
  int64_t zero = 0;
  bool isSigned = false;
  /// True if narrowing does not wrap around.
  bool isInRange = false;

  /// Returns the byte that `op` converts, or a null value if it is loaded.
  template <typename Op>
  static ReadByte of(Op op);
};

template <typename Op>
ReadByte ReadByte::of(Op op) {
  ReadByte read{op.getIn(), 0, isa<arith::SIToFPOp>(op)};
  APInt number;
  if (auto shifted = read.whole.template getDefiningOp<arith::SubIOp>()) {
    if (!matchPattern(shifted.getRhs(), m_ConstantInt(&number)))
      return {};
    read.zero = number.getSExtValue();
    read.whole = shifted.getLhs();
  }
  // Looks through an extension of the byte to int16 or i32.
  Operation *extend = read.whole.getDefiningOp();
  if (isa_and_nonnull<arith::ExtUIOp, arith::ExtSIOp>(extend)) {
    read.isSigned = isa<arith::ExtSIOp>(extend);
    read.whole = extend->getOperand(0);
  }
  auto bytes = read.whole.template getDefiningOp<arith::TruncIOp>();
  const bool mayBeNegative = read.isSigned || read.zero != 0;
  if (!bytes || !getElementTypeOrSelf(bytes.getType()).isInteger(8) ||
      (isa<arith::UIToFPOp>(op) && mayBeNegative))
    return {};
  read.whole = bytes.getIn();
  read.isInRange =
      bitEnumContainsAny(bytes.getOverflowFlags(),
                         read.isSigned ? arith::IntegerOverflowFlags::nsw
                                       : arith::IntegerOverflowFlags::nuw);
  return read;
}

constexpr char kLoaded[] = "is of bytes that are loaded, or may be negative";

/// Replaces bytes that are directly converted to floats by the rounded floats.
/// The zero point is added and subtracted again; this changes no value within a
/// byte.
template <typename Op>
struct ReadWhatWasRounded : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    ReadByte read = ReadByte::of(op);
    Value whole = read.whole;
    if (!whole)
      return rewriter.notifyMatchFailure(op, kLoaded);
    APInt number;
    if (read.zero != 0) {
      auto moved = whole.template getDefiningOp<arith::AddIOp>();
      if (!moved || !matchPattern(moved.getRhs(), m_ConstantInt(&number)) ||
          number.getSExtValue() != read.zero)
        return rewriter.notifyMatchFailure(op, "has another zero point");
      whole = moved.getLhs();
    }
    // Expects one op for rounding and conversion, because the walk has already
    // fused both.
    auto rounded = whole.template getDefiningOp<LLVM::LrintOp>();
    if (!read.isInRange || !rounded ||
        rounded.getOperand().getType() != op.getType())
      return rewriter.notifyMatchFailure(
          op, "converts values that are not rounded, or not within a byte");
    rewriter.replaceOpWithNewOp<math::RoundEvenOp>(op, rounded.getOperand());
    return success();
  }
};

/// Replaces bytes that are directly converted to floats by the float whose low
/// bits they are. It is an integer plus `nn::kWholeSteps`, which is subtracted
/// together with the zero point, without an error.
template <typename Op>
struct ReadWhatWasRequantized : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    auto [whole, zero, isSigned, _] = ReadByte::of(op);
    auto most = whole ? whole.template getDefiningOp<arith::MinSIOp>()
                      : arith::MinSIOp();
    auto least = most ? most.getLhs().template getDefiningOp<arith::MaxSIOp>()
                      : arith::MaxSIOp();
    auto shifted = least
                       ? least.getLhs().template getDefiningOp<arith::SubIOp>()
                       : arith::SubIOp();
    auto bits =
        shifted ? shifted.getLhs().template getDefiningOp<arith::BitcastOp>()
                : arith::BitcastOp();
    APInt high, low, shift;
    auto type = dyn_cast<VectorType>(op.getType());
    if (!bits || !type || bits.getIn().getType() != type ||
        !matchPattern(most.getRhs(), m_ConstantInt(&high)) ||
        !matchPattern(least.getRhs(), m_ConstantInt(&low)) ||
        !matchPattern(shifted.getRhs(), m_ConstantInt(&shift)) ||
        shift.getSExtValue() != llvm::bit_cast<int32_t>(nn::kWholeSteps) ||
        low.getSExtValue() < (isSigned ? -128 : 0) ||
        high.getSExtValue() > (isSigned ? 127 : 255))
      return rewriter.notifyMatchFailure(
          op, "converts no vector of low bits, held within a byte");
    const elementary::FloatBuilder f{rewriter, op.getLoc(), type,
                                     /*hasFMA=*/false};
    auto without = [&, zero = zero](const APInt &number) {
      return f.number(double(number.getSExtValue() - zero));
    };
    Value x =
        f.sub(bits.getIn(), f.number(double(nn::kWholeSteps) + double(zero)));
    x = arith::MaxNumFOp::create(rewriter, op.getLoc(), x, without(low));
    rewriter.replaceOpWithNewOp<arith::MinNumFOp>(op, x, without(high));
    return success();
  }
};

struct RoundToIntegerPass
    : ingot::impl::RoundToIntegerBase<RoundToIntegerPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<BoundByZero, RoundWhileConverting,
                 ReadWhatWasRequantized<arith::SIToFPOp>,
                 ReadWhatWasRequantized<arith::UIToFPOp>,
                 ReadWhatWasRounded<arith::SIToFPOp>,
                 ReadWhatWasRounded<arith::UIToFPOp>,
                 BoundNumbers<arith::MaximumFOp, arith::MaxNumFOp>,
                 BoundNumbers<arith::MinimumFOp, arith::MinNumFOp>>(
        &getContext());
    rewriteInOneWalk(getOperation(), std::move(patterns));
    // Narrowed integers may wrap around from here on. Their floats may be NaN,
    // which becomes an integer that no byte holds. LLVM must not assume that an
    // index read from such a byte is small.
    getOperation()->walk([](arith::TruncIOp op) {
      op.setOverflowFlags(arith::IntegerOverflowFlags::none);
    });
  }
};

} // namespace
