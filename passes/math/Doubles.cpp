//===- Doubles.cpp - functions computed in f64 ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/math/Doubles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

#include <limits>

using namespace mlir;
using namespace ingot;

/// Computes tanh(x) = e / (e + 2) with e = exp(2 |x|) - 1. The form keeps the
/// precision of small x: exp(2^n r) - 1 = 2^n (exp(r) - 1) + (2^n - 1), |r| <=
/// ln(2)/2. The result is within 4 ulp.
Value elementary::approximateDoubleTanh(const FloatBuilder &f, Value signedX) {
  // Above the limit the result is 1. NaN stays NaN.
  Value limit = f.number(22), x = math::AbsFOp::create(f.b, f.loc, signedX);
  x = f.select(arith::CmpFPredicate::OGT, x, limit, limit, x);
  x = f.add(x, x);
  // Adding `magic` leaves the nearest integer in the lowest bits.
  Value magic = f.number(6755399441055744.0); // 1.5 * 2^52
  Value biased = f.fma(x, f.number(1.4426950408889634), magic);
  Value n = f.sub(biased, magic);
  // ln(2) as a sum of two parts. The first is so short that n times it is
  // exact.
  Value r = f.fma(n, f.number(-6.93147180369123816490e-01), x);
  r = f.fma(n, f.number(-1.90821492927058770002e-10), r);
  // Computes exp(r) - 1 - r as r² times the sum of r^k / (k + 2)!.
  double factorial = 6227020800.0; // 13!
  Value sum = f.number(1 / factorial);
  for (int64_t k = 13; k > 2; --k) {
    factorial /= double(k);
    sum = f.fma(sum, r, f.number(1 / factorial));
  }
  Value less = f.fma(f.mul(r, r), sum, r), one = f.number(1);
  Value power = f.scaleByPowerOf2(one, biased);
  Value e = f.fma(power, less, f.sub(power, one));
  Value y = f.div(e, f.add(e, f.number(2)));
  return math::CopySignOp::create(f.b, f.loc, y, signedX);
}

namespace {

/// Expands the remainder to x - trunc(x / y) y in f64. Below 2^29, rounding in
/// f64 never lifts a quotient of two f32 to the next integer. The product of
/// such a quotient with y is exact in f64, so the result is exact. For larger
/// quotients, libm computes the remainder.
struct ComputeRemainder : OpRewritePattern<arith::RemFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::RemFOp op,
                                PatternRewriter &rewriter) const override;
};

} // namespace

LogicalResult
ComputeRemainder::matchAndRewrite(arith::RemFOp op,
                                  PatternRewriter &rewriter) const {
  Type type = op.getType(), doubles = rewriter.getF64Type();
  if (!getElementTypeOrSelf(type).isF32())
    return rewriter.notifyMatchFailure(op, "is not of f32");
  if (auto vector = dyn_cast<VectorType>(type))
    doubles = vector.clone(doubles);
  Location loc = op.getLoc();
  const elementary::FloatBuilder f{rewriter, loc, doubles, /*hasFMA=*/false};
  Value x = arith::ExtFOp::create(rewriter, loc, doubles, op.getLhs()),
        y = arith::ExtFOp::create(rewriter, loc, doubles, op.getRhs());
  Value quotient = math::TruncOp::create(rewriter, loc, f.div(x, y));
  // If |x| < |y| the remainder is x, also where y is infinite. If y is 0 or x
  // is infinite, the remainder is NaN.
  Value rest = f.select(arith::CmpFPredicate::OEQ, quotient, f.number(0), x,
                        f.sub(x, f.mul(quotient, y)));
  Value size = math::AbsFOp::create(rewriter, loc, quotient);
  auto is = [&](arith::CmpFPredicate predicate, double value) {
    return arith::CmpFOp::create(rewriter, loc, predicate, size,
                                 f.number(value));
  };
  Value isExact = arith::OrIOp::create(
      rewriter, loc, is(arith::CmpFPredicate::ULT, double(1 << 29)),
      is(arith::CmpFPredicate::OEQ, std::numeric_limits<double>::infinity()));
  if (isa<VectorType>(type))
    isExact = vector::ReductionOp::create(rewriter, loc,
                                          vector::CombiningKind::AND, isExact);
  auto choice = scf::IfOp::create(
      rewriter, loc, isExact,
      [&](OpBuilder &b, Location loc) {
        Value narrow = arith::TruncFOp::create(b, loc, type, rest);
        // A remainder of 0 has the sign of x, too.
        Value y = math::CopySignOp::create(b, loc, narrow, op.getLhs());
        scf::YieldOp::create(b, loc, y);
      },
      [&](OpBuilder &b, Location loc) {
        Value called = LLVM::FRemOp::create(b, loc, op.getLhs(), op.getRhs());
        scf::YieldOp::create(b, loc, called);
      });
  rewriter.replaceOp(op, choice);
  return success();
}

void elementary::populateRemainder(RewritePatternSet &patterns) {
  patterns.add<ComputeRemainder>(patterns.getContext());
}
