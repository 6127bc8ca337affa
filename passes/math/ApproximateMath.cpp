//===- ApproximateMath.cpp - approximate-math -----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Approximates exp, erf and tanh of f32 without branches or tables. The
// coefficients are minimax fits of the relative error in double precision,
// rounded to f32. The method is Lawson's iteration ("Contributions to the
// theory of linear least maximum approximation", 1961). The remaining error
// comes from rounding in the evaluation: exp is within 2 ulp, erf and tanh
// within 6 ulp. Without fused multiply-add the error is one ulp more; no result
// leaves the function's range.
//
//===----------------------------------------------------------------------===//
#include "dialects/ingot/TargetInfo.h"
#include "passes/math/Doubles.h"
#include "passes/math/Functions.h"
#include "passes/math/Passes.h"
#include "passes/math/Trigonometry.h"
#include "passes/support/FloatBuilder.h"
#include "passes/support/Rewrite.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

#include <limits>

namespace ingot {
#define GEN_PASS_DEF_APPROXIMATEMATH
#include "passes/math/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using elementary::FloatBuilder;

/// Computes exp(x) = 2^n exp(r) for an integer n and |r| <= ln(2)/2. Results
/// below the least normal number become 0.
static Value approximateExp(const FloatBuilder &f, Value x) {
  // Adding `magic` leaves the nearest integer in the lowest bits.
  Value magic = f.number(12582912.0f); // 1.5 * 2^23
  Value biased = f.fma(x, f.number(1.44269504f), magic);
  Value n = f.sub(biased, magic);
  // ln(2) as a sum of two parts. The first is so short that n times it is
  // exact.
  Value r = f.fma(n, f.number(-0.693359375f), x);
  r = f.fma(n, f.number(2.12194440e-4f), r);
  Value p = f.horner(r, {1.38145395e-3f, 8.36874545e-3f, 4.16683890e-2f,
                         1.66665211e-1f, 0.5f});
  // Adds 1 last, because the earlier rounding errors are then relatively small.
  p = f.add(f.fma(f.mul(r, r), p, r), f.number(1.0f));
  Value y = f.scaleByPowerOf2(p, biased);
  constexpr float infinity = std::numeric_limits<float>::infinity();
  // The largest x whose result is finite. NaN times infinity is NaN.
  y = f.select(arith::CmpFPredicate::UGT, x, f.number(88.7228317f),
               f.mul(x, f.number(infinity)), y);
  return f.select(arith::CmpFPredicate::OLT, x, f.number(-87.3365402f),
                  f.number(0.0f), y);
}

// Computes erf and tanh as x P(x²) / Q(x²). Near 1, rounding errors would carry
// some results past 1. So x is clamped to the last float before the first x
// whose result would be 1. No result exceeds 1, and larger x give 1. This float
// depends on how multiply-adds are rounded. test_special_numbers.py tries all
// floats below it.

static Value approximateErf(const FloatBuilder &f, Value x) {
  x = f.clamp(x, f.hasFMA ? 3.65564227f : 3.61930180f);
  Value z = f.mul(x, x);
  Value p = f.horner(z, {2.0460274754e-6f, 2.8484317591e-4f, 3.7725383881e-3f,
                         5.2769258618e-2f, 1.9059349597e-1f, 1.1283791065f});
  Value q = f.horner(z, {3.8047758e-5f, 1.1638548e-3f, 1.4983173e-2f,
                         1.1418261e-1f, 5.0224185e-1f, 1.0f});
  return f.div(f.mul(x, p), q);
}

static Value approximateTanh(const FloatBuilder &f, Value x) {
  x = f.clamp(x, f.hasFMA ? 8.21512032f : 8.14268112f);
  Value z = f.mul(x, x);
  Value p = f.horner(z, {1.33189007e-8f, 2.05833549e-5f, 3.49402684e-3f,
                         1.33797109e-1f, 1.0f});
  Value q = f.horner(z, {7.76194838e-7f, 3.28308030e-4f, 2.58710440e-2f,
                         4.67130274e-1f, 1.0f});
  return f.div(f.mul(x, p), q);
}

bool elementary::isApproximated(Operation *op) {
  if (!isa<math::AcosOp, math::AsinOp, math::AtanOp, math::CosOp, math::ErfOp,
           math::ExpOp, math::Log1pOp, math::LogOp, math::SinOp, math::TanhOp>(
          op))
    return false;
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  return element.isF32() || (element.isF64() && isa<math::TanhOp>(op));
}

namespace {

template <typename Op>
struct Approximate : OpRewritePattern<Op> {
  using Function = Value (*)(const FloatBuilder &, Value);
  Approximate(MLIRContext *context, Function function, bool hasFMA,
              unsigned width = 32)
      : OpRewritePattern<Op>(context), function(function), hasFMA(hasFMA),
        width(width) {}

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    if (getElementTypeOrSelf(op.getType()).getIntOrFloatBitWidth() != width)
      return rewriter.notifyMatchFailure(op, "is of another width");
    FloatBuilder builder{rewriter, op.getLoc(), op.getType(), hasFMA};
    rewriter.replaceOp(op, function(builder, op.getOperand()));
    return success();
  }

  Function function;
  bool hasFMA;
  /// Bits of the floats that the function takes.
  unsigned width;
};

struct ApproximateMathPass
    : ingot::impl::ApproximateMathBase<ApproximateMathPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    bool hasFMA = TargetInfo::of(getOperation()).hasFMA;
    patterns.add<Approximate<math::ExpOp>>(&getContext(), approximateExp,
                                           hasFMA);
    patterns.add<Approximate<math::ErfOp>>(&getContext(), approximateErf,
                                           hasFMA);
    patterns.add<Approximate<math::TanhOp>>(&getContext(), approximateTanh,
                                            hasFMA);
    patterns.add<Approximate<math::SinOp>>(&getContext(),
                                           elementary::approximateSin, hasFMA);
    patterns.add<Approximate<math::CosOp>>(&getContext(),
                                           elementary::approximateCos, hasFMA);
    patterns.add<Approximate<math::AtanOp>>(
        &getContext(), elementary::approximateAtan, hasFMA);
    patterns.add<Approximate<math::AsinOp>>(
        &getContext(), elementary::approximateAsin, hasFMA);
    patterns.add<Approximate<math::AcosOp>>(
        &getContext(), elementary::approximateAcos, hasFMA);
    patterns.add<Approximate<math::TanhOp>>(
        &getContext(), elementary::approximateDoubleTanh, hasFMA, /*width=*/64);
    elementary::populateRemainder(patterns);
    // Upstream's polynomials approximate logarithms.
    populateMathPolynomialApproximationPatterns(patterns, [](StringRef name) {
      return name == "math.log" || name == "math.log1p";
    });
    if (failed(rewriteGreedily(getOperation(), std::move(patterns),
                               getArgument())))
      signalPassFailure();
  }
};
} // namespace
