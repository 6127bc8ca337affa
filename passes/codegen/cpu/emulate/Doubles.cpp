//===- Doubles.cpp - what is computed in f64 ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/codegen/cpu/emulate/Doubles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"

#include <limits>

using namespace mlir;
using namespace ingot;

/// `type` with other elements.
static Type withElements(Type type, Type element) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? Type(vector.clone(element)) : element;
}

/// `value` of f64, or of integers of as many bits, in all lanes of `type`.
static Value constant(ImplicitLocOpBuilder &b, Type type, double value) {
  Type element = getElementTypeOrSelf(type);
  TypedAttr one = isa<FloatType>(element)
                      ? TypedAttr(b.getF64FloatAttr(value))
                      : b.getIntegerAttr(element, int64_t(value));
  if (auto vector = dyn_cast<VectorType>(type))
    one = DenseElementsAttr::get(vector, Attribute(one));
  return arith::ConstantOp::create(b, one);
}

namespace {

/// tanh(x) = e / (e + 2) of e = exp(2 |x|) - 1, which keeps what is small:
/// exp(2^n r) - 1 = 2^n (exp(r) - 1) + (2^n - 1), |r| <= ln(2)/2. Within 4 ulp.
struct ApproximateTanh : OpRewritePattern<math::TanhOp> {
  ApproximateTanh(MLIRContext *context, bool hasFMA)
      : OpRewritePattern(context), hasFMA(hasFMA) {}

  LogicalResult matchAndRewrite(math::TanhOp op,
                                PatternRewriter &rewriter) const override;
  bool hasFMA;
};

/// x - trunc(x / y) y. A quotient of f32 in f64 is not rounded up to a whole
/// number below 2^29, whose product with y has all its bits, so that nothing
/// is rounded at all. Where it is larger, libm finds it.
struct ComputeRemainder : OpRewritePattern<arith::RemFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::RemFOp op,
                                PatternRewriter &rewriter) const override;
};

} // namespace

LogicalResult
ApproximateTanh::matchAndRewrite(math::TanhOp op,
                                 PatternRewriter &rewriter) const {
  Type type = op.getType();
  if (!getElementTypeOrSelf(type).isF64())
    return rewriter.notifyMatchFailure(op, "is not of f64");
  ImplicitLocOpBuilder b(op.getLoc(), rewriter);
  auto number = [&](double value) { return constant(b, type, value); };
  auto fma = [&](Value x, Value y, Value z) -> Value {
    if (hasFMA)
      return math::FmaOp::create(b, x, y, z);
    return arith::AddFOp::create(b, arith::MulFOp::create(b, x, y), z);
  };
  // Behind it the result is 1; NaN stays NaN.
  Value limit = number(22), x = math::AbsFOp::create(b, op.getOperand());
  Value isLarge =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, x, limit);
  x = arith::SelectOp::create(b, isLarge, limit, x);
  x = arith::AddFOp::create(b, x, x);
  // Adding it leaves the nearest integer in the lowest bits.
  Value magic = number(6755399441055744.0); // 1.5 * 2^52
  Value biased = fma(x, number(1.4426950408889634), magic);
  Value n = arith::SubFOp::create(b, biased, magic);
  // ln(2) in two parts, the first so short that n times it is exact.
  Value r = fma(n, number(-6.93147180369123816490e-01), x);
  r = fma(n, number(-1.90821492927058770002e-10), r);
  // exp(r) - 1 - r is r² times the sum of r^k / (k + 2)!.
  double factorial = 6227020800.0; // 13!
  Value sum = number(1 / factorial);
  for (int64_t k = 13; k > 2; --k) {
    factorial /= double(k);
    sum = fma(sum, r, number(1 / factorial));
  }
  Value less = fma(arith::MulFOp::create(b, r, r), sum, r);
  Type bits = withElements(type, b.getI64Type());
  Value shifted = arith::ShLIOp::create(
      b, arith::BitcastOp::create(b, bits, biased), constant(b, bits, 52));
  Value one = number(1), power = arith::BitcastOp::create(
      b, type,
      arith::AddIOp::create(b, shifted,
                            arith::BitcastOp::create(b, bits, one)));
  Value e = fma(power, less, arith::SubFOp::create(b, power, one));
  Value y = arith::DivFOp::create(b, e,
                                  arith::AddFOp::create(b, e, number(2)));
  rewriter.replaceOpWithNewOp<math::CopySignOp>(op, y, op.getOperand());
  return success();
}

LogicalResult
ComputeRemainder::matchAndRewrite(arith::RemFOp op,
                                  PatternRewriter &rewriter) const {
  Type type = op.getType();
  if (!getElementTypeOrSelf(type).isF32())
    return rewriter.notifyMatchFailure(op, "is not of f32");
  ImplicitLocOpBuilder b(op.getLoc(), rewriter);
  Type doubles = withElements(type, b.getF64Type());
  Value x = arith::ExtFOp::create(b, doubles, op.getLhs()),
        y = arith::ExtFOp::create(b, doubles, op.getRhs());
  Value quotient =
      math::TruncOp::create(b, arith::DivFOp::create(b, x, y));
  // Of a smaller x all is left, also where y is infinite. What is divided by 0
  // or infinite itself leaves no number.
  Value none = constant(b, doubles, 0);
  Value rest = arith::SelectOp::create(
      b,
      arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, quotient, none), x,
      arith::SubFOp::create(b, x, arith::MulFOp::create(b, quotient, y)));
  Value size = math::AbsFOp::create(b, quotient);
  auto is = [&](arith::CmpFPredicate predicate, double value) {
    return arith::CmpFOp::create(b, predicate, size,
                                 constant(b, doubles, value));
  };
  Value isExact = arith::OrIOp::create(
      b, is(arith::CmpFPredicate::ULT, double(1 << 29)),
      is(arith::CmpFPredicate::OEQ, std::numeric_limits<double>::infinity()));
  if (isa<VectorType>(type))
    isExact = vector::ReductionOp::create(b, vector::CombiningKind::AND,
                                          isExact);
  auto choice = scf::IfOp::create(
      b, isExact,
      [&](OpBuilder &nested, Location loc) {
        ImplicitLocOpBuilder b(loc, nested);
        Value narrow = arith::TruncFOp::create(b, type, rest);
        // Nothing is left with the sign of x, too.
        scf::YieldOp::create(
            b, math::CopySignOp::create(b, narrow, op.getLhs()).getResult());
      },
      [&](OpBuilder &nested, Location loc) {
        Value called = LLVM::FRemOp::create(nested, loc, op.getLhs(),
                                            op.getRhs());
        scf::YieldOp::create(nested, loc, called);
      });
  rewriter.replaceOp(op, choice);
  return success();
}

void cpu::populateDoubles(RewritePatternSet &patterns, bool hasFMA) {
  patterns.add<ApproximateTanh>(patterns.getContext(), hasFMA);
  patterns.add<ComputeRemainder>(patterns.getContext());
}
