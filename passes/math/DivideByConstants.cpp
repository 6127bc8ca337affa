//===- DivideByConstants.cpp - divide-by-constants ------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Replaces x / s by fma(x, h, x l). Here h is 1 / s cut off to f32, and l is
// the rest of 1 / s. Both have the sign of s, so that infinities and zeros come
// out as from a division. For each constant s, the pass proves that every
// quotient is rounded correctly. Source: Brisebarre, Muller, Raina,
// "Accelerating correctly rounded floating-point division when the divisor is
// known in advance", 2004.
//
// A divisor s that is computed at run time has no such proof. Then h is 1 / s
// rounded to nearest, and l is the rounded rest of 1 / s. Before its rounding
// to f32, fma(x, h, x l) has a relative error of at most 2^-46. So the integer
// can differ from that of a division only near the midpoint of a half and its
// neighboring float. A quotient of two floats is never such a midpoint.
//
//===----------------------------------------------------------------------===//
#include "dialects/ingot/TargetInfo.h"
#include "passes/math/Passes.h"
#include "passes/support/FloatBuilder.h"
#include "passes/support/Rewrite.h"
#include "passes/support/RunQuotients.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

#include <cmath>
#include <limits>
#include <optional>

namespace ingot {
#define GEN_PASS_DEF_DIVIDEBYCONSTANTS
#include "passes/math/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

/// Bits of the significand of an f32, with the implicit one.
static constexpr int kBits = 24;

/// The largest exponent of a divisor. Beyond 2^60 and 2^-60, denormal
/// intermediate values that should round to 0 might be near a half.
static constexpr int kMaxExponent = 60;

/// The number of floats in a vector of AVX-512.
static constexpr int64_t kWideLanes = 16;

namespace {

/// The inverse of a divisor, as the sum of two floats.
struct Inverse {
  float high, low;

  float times(float x) const { return std::fma(x, high, x * low); }
};

} // namespace

/// Returns the inverse of `number` modulo an odd `modulus`.
static int64_t invertModulo(int64_t number, int64_t modulus) {
  int64_t inverse = 0, next = 1, rest = modulus, divisor = number % modulus;
  while (divisor != 0) {
    int64_t quotient = rest / divisor;
    inverse = std::exchange(next, inverse - quotient * next);
    rest = std::exchange(divisor, rest - quotient * divisor);
  }
  return inverse < 0 ? inverse + modulus : inverse;
}

/// Returns true if `inverse` gives each quotient by `divisor` rounded to
/// nearest.
///
/// Let x and the divisor be integers of 24 bits, X and D 2^k with D odd. The
/// error of the sum is less than 2^-45 of the quotient. So its rounding can
/// differ only where the quotient is that near to the midpoint of two floats:
///     X 2^a = (2 M + 1) D + r,  0 < |r| <= D 2^(25 - 45) < 16
/// with 2^a such that 2 M + 1 has 25 bits. Each r determines X modulo D. The
/// function tries all these X.
static bool dividesExactly(float divisor, Inverse inverse) {
  int exponent;
  int64_t odd =
      std::llrint(std::ldexp(std::frexp(std::abs(divisor), &exponent), kBits));
  int twos = 0;
  for (; odd % 2 == 0; odd /= 2)
    ++twos;
  constexpr int64_t kFirst = int64_t(1) << (kBits - 1), kEnd = 2 * kFirst;
  const int64_t mostRest = odd >> 20;
  for (int power : {kBits - twos, kBits + 1 - twos}) {
    if (mostRest == 0)
      break;
    int64_t inverseOfPower = invertModulo((int64_t(1) << power) % odd, odd);
    for (int64_t rest = -mostRest; rest <= mostRest; ++rest) {
      int64_t x = ((rest + odd) % odd) * inverseOfPower % odd;
      if (x < kFirst)
        x += llvm::divideCeil(kFirst - x, odd) * odd;
      for (; x < kEnd; x += odd) {
        float number = std::ldexp(float(x), exponent - kBits);
        if (inverse.times(number) != number / divisor)
          return false;
      }
    }
  }
  return true;
}

/// Returns the inverse of `divisor` if multiplying by it is proven to divide.
static std::optional<Inverse> invert(float divisor) {
  if (!std::isnormal(divisor) || std::abs(std::ilogb(divisor)) > kMaxExponent)
    return std::nullopt;
  // A double holds all bits of 1 / divisor that matter.
  const double whole = 1 / double(divisor);
  auto high = float(whole);
  if (std::abs(double(high)) > std::abs(whole))
    high = std::nextafter(high, 0.0f);
  const auto low = float(whole - double(high));
  if (low == 0)
    return Inverse{high, low};
  for (float near : {low, std::nextafter(low, 0.0f),
                     std::nextafter(low, std::copysign(1.0f, low))})
    if (dividesExactly(divisor, {high, near}))
      return Inverse{high, near};
  return std::nullopt;
}

/// Returns true if `value` is only clamped and rounded to integers. Values that
/// lose bits because they are too small for f32 then become 0.
static bool isOnlyRounded(Value value) {
  return llvm::all_of(value.getUsers(), [](Operation *user) {
    return isa<math::RoundEvenOp>(user) ||
           (isa<arith::MaximumFOp, arith::MinimumFOp>(user) &&
            isOnlyRounded(user->getResult(0)));
  });
}

namespace {

struct MultiplyByInverse : OpRewritePattern<arith::DivFOp> {
  MultiplyByInverse(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(arith::DivFOp op,
                                PatternRewriter &rewriter) const override {
    Value divisor = op.getRhs();
    if (auto broadcast = divisor.getDefiningOp<vector::BroadcastOp>())
      divisor = broadcast.getSource();
    APFloat number(0.f);
    if (!getElementTypeOrSelf(op.getType()).isF32() ||
        !matchPattern(divisor, m_ConstantFloat(&number)))
      return rewriter.notifyMatchFailure(op, "is not of f32 by a constant");
    if (!isOnlyRounded(op.getResult()))
      return rewriter.notifyMatchFailure(op, "is more than rounded");
    std::optional<Inverse> inverse = invert(number.convertToFloat());
    if (!inverse)
      return rewriter.notifyMatchFailure(
          op, "is by a number that no inverse is proven for");
    elementary::FloatBuilder f{rewriter, op.getLoc(), op.getType(),
                               /*hasFMA=*/true};
    Value x = op.getLhs(), high = f.number(inverse->high);
    rewriter.replaceOp(op,
                       inverse->low == 0
                           ? f.mul(x, high)
                           : f.fma(x, high, f.mul(x, f.number(inverse->low))));
    ++count;
    return success();
  }
  Pass::Statistic &count;
};

} // namespace

/// Returns true if all uses of `value` end in a conversion of rounded values to
/// integers. `isRounded` is true if `value` is already rounded.
static bool onlyBecomesInteger(Value value, bool isRounded) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (isa<arith::FPToSIOp>(user))
      return isRounded;
    if (isa<math::RoundEvenOp>(user))
      return onlyBecomesInteger(user->getResult(0), true);
    return (isa<arith::MaximumFOp, arith::MinimumFOp>(user) ||
            (isRounded && isa<arith::AddFOp>(user))) &&
           onlyBecomesInteger(user->getResult(0), isRounded);
  });
}

/// Returns the limit within which `op` is clamped, and the clamped value if one
/// constant bounds the quotient on both sides. Otherwise returns 2^64, because
/// no integer type holds a larger quotient.
static std::pair<float, Value> clampOf(arith::DivFOp op) {
  auto userOf = [](Operation *op) {
    return op->hasOneUse() ? *op->user_begin() : nullptr;
  };
  auto low = dyn_cast_or_null<arith::MaximumFOp>(userOf(op));
  auto high = low ? dyn_cast_or_null<arith::MinimumFOp>(userOf(low)) : nullptr;
  APFloat least(0.f), most(0.f);
  if (high && matchPattern(low.getRhs(), m_ConstantFloat(&least)) &&
      matchPattern(high.getRhs(), m_ConstantFloat(&most)) &&
      least.convertToFloat() == -most.convertToFloat() &&
      most.convertToFloat() == kMaxRunQuotient)
    return {most.convertToFloat(), high.getResult()};
  return {0x1p64f, Value()};
}

/// Clamps `x` to the positive `bound` on both sides, by minima of integers.
/// Positive floats have the order of signed integers. Negative floats have the
/// order of their magnitudes as unsigned integers, above all positive floats.
/// NaN becomes a bound.
static Value clampAsInteger(elementary::FloatBuilder f, Value x, Value bound) {
  Value low = arith::NegFOp::create(f.b, f.loc, bound);
  Value clamped =
      arith::MinSIOp::create(f.b, f.loc, f.bitsOf(x), f.bitsOf(bound));
  return f.ofBits(arith::MinUIOp::create(f.b, f.loc, clamped, f.bitsOf(low)));
}

/// Clamps `x` to the positive `bound` on both sides. NaN may become any number.
/// AVX2 has more units for minima of integers than for those of floats, which
/// also multiply. AVX-512 has as many of both.
static Value clampMagnitude(elementary::FloatBuilder f, Value x, Value bound) {
  if (TargetInfo::of(x.getParentRegion()->getParentOp()).lanes < kWideLanes)
    return clampAsInteger(f, x, bound);
  Value low = arith::NegFOp::create(f.b, f.loc, bound);
  x = f.select(arith::CmpFPredicate::OGT, x, low, x, low);
  return f.select(arith::CmpFPredicate::OLT, x, bound, x, bound);
}

namespace {

/// Replaces a division by a value that does not change in the loop. The value
/// is loaded from a buffer of rank 0. The dividend is clamped instead of the
/// quotient, because the sum of products of an infinity may be NaN. NaN may
/// become any integer.
struct MultiplyByInverseOfRun : OpRewritePattern<arith::DivFOp> {
  MultiplyByInverseOfRun(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(arith::DivFOp op,
                                PatternRewriter &rewriter) const override {
    Value divisor = op.getRhs(), scalar = divisor;
    if (auto broadcast = divisor.getDefiningOp<vector::BroadcastOp>())
      scalar = broadcast.getSource();
    auto load = scalar.getDefiningOp<memref::LoadOp>();
    if (!scalar.getType().isF32() || !load ||
        load.getMemRefType().getRank() != 0 ||
        !op->getParentOfType<scf::ForOp>())
      return rewriter.notifyMatchFailure(
          op, "is not of f32 by a number that stays in a loop");
    if (!onlyBecomesInteger(op.getResult(), /*isRounded=*/false))
      return rewriter.notifyMatchFailure(op, "becomes more than integers");
    // Clamps the inverse, which is infinite for tiny divisors, so that 0
    // divided by a tiny divisor stays 0.
    elementary::FloatBuilder one{rewriter, op.getLoc(), scalar.getType(),
                                 /*hasFMA=*/true};
    Value inverse = one.clamp(one.div(one.number(1), scalar), 0x1p126f);
    // The rounding error of the inverse.
    Value rest =
        one.mul(one.fma(arith::NegFOp::create(rewriter, op.getLoc(), scalar),
                        inverse, one.number(1)),
                inverse);
    // No quotient beyond the limit is of interest. The bound of the dividend is
    // more than 0, so that a divisor of 0 keeps the sign of the dividend.
    auto [limit, clamped] = clampOf(op);
    Value size = math::AbsFOp::create(rewriter, op.getLoc(), scalar);
    Value most = one.number(std::numeric_limits<float>::max());
    Value bound = one.mul(size, one.number(limit)),
          least = one.number(limit * 0x1p-130f);
    bound = one.select(arith::CmpFPredicate::OLT, bound, most, bound, most);
    bound = one.select(arith::CmpFPredicate::OGT, bound, least, bound, least);
    if (scalar != divisor)
      for (Value *value : {&inverse, &rest, &bound})
        *value = vector::BroadcastOp::create(rewriter, op.getLoc(),
                                             op.getType(), *value);
    elementary::FloatBuilder f{rewriter, op.getLoc(), op.getType(),
                               /*hasFMA=*/true};
    Value x = clampMagnitude(f, op.getLhs(), bound);
    Value q = f.fma(x, inverse, f.mul(x, rest));
    if (clamped)
      rewriter.replaceAllUsesWith(clamped, q);
    rewriter.replaceOp(op, q);
    ++count;
    return success();
  }
  Pass::Statistic &count;
};

struct DivideByConstantsPass
    : ingot::impl::DivideByConstantsBase<DivideByConstantsPass> {
  using DivideByConstantsBase::DivideByConstantsBase;

  void runOnOperation() override {
    if (!TargetInfo::of(getOperation()).hasFMA)
      return;
    RewritePatternSet patterns(&getContext());
    patterns.add<MultiplyByInverse, MultiplyByInverseOfRun>(&getContext(),
                                                            numMultiplied);
    rewriteInOneWalk(getOperation(), std::move(patterns));
  }
};

} // namespace
