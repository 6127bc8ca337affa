//===- ExpandFMA.cpp - expand-fma -----------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// f64 represents a product of two f32 exactly. From 2^52 on, neighbouring f64
// differ by 1. The sum of the product and a whole number of that size is thus
// rounded once, to a whole number. The lower bits of this f64 count whole
// numbers, as the lower bits of an f32 do from 2^23 on.
//
// Other sums are rounded to f64 and then to f32. The second rounding differs
// from a single one only if the f64 lies exactly between two f32 and the sum
// does not.
//
//===----------------------------------------------------------------------===//
#include "dialects/ingot/TargetInfo.h"
#include "passes/cpu/Passes.h"
#include "passes/support/FloatBuilder.h"
#include "passes/support/Rewrite.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

namespace ingot {
#define GEN_PASS_DEF_EXPANDFMA
#include "passes/cpu/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

/// The addend that makes f64 round to whole numbers; its lower bits are 0.
static constexpr double kWholeSteps = 0x1.8p52;
/// The bits of 2^23 as f32, less 2^23.
static constexpr int32_t kBitsOfNone = 0x4b000000 - (1 << 23);

/// Returns f64, or a vector of f64 with the shape of `type`.
static Type wideOf(Type type) {
  auto f64 = Float64Type::get(type.getContext());
  auto vector = dyn_cast<VectorType>(type);
  return vector ? Type(vector.clone(f64)) : f64;
}

/// Returns `value` of f32 as f64.
static Value extend(OpBuilder &b, Location loc, Value value) {
  return arith::ExtFOp::create(b, loc, wideOf(value.getType()), value);
}

/// Returns `value` of f32, an integer that f32 represents, as f64. Converts the
/// integer directly, because f64 represents it as well.
static Value extendInteger(OpBuilder &b, Location loc, Value value) {
  auto whole = value.getDefiningOp<arith::SIToFPOp>();
  if (!whole)
    return extend(b, loc, value);
  return arith::SIToFPOp::create(b, loc, wideOf(value.getType()),
                                 whole.getIn());
}

namespace {

struct SumInF64 : OpRewritePattern<arith::BitcastOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::BitcastOp op,
                                PatternRewriter &rewriter) const override {
    auto fma = op.getIn().getDefiningOp<math::FmaOp>();
    Type words = op.getType();
    if (!fma || !getElementTypeOrSelf(fma.getType()).isF32() ||
        !getElementTypeOrSelf(words).isInteger(32))
      return rewriter.notifyMatchFailure(
          op, "is not of the bits of a multiply-add of f32");
    Location loc = op.getLoc();
    const elementary::FloatBuilder f{rewriter, loc, wideOf(words),
                                     /*hasFMA=*/false};
    Value product = f.mul(extendInteger(rewriter, loc, fma.getA()),
                          extend(rewriter, loc, fma.getB()));
    Value shift =
        f.add(extend(rewriter, loc, fma.getC()), f.number(kWholeSteps));
    Value bits = f.bitsOf(f.add(product, shift));
    rewriter.replaceOpWithNewOp<arith::AddIOp>(
        op, arith::TruncIOp::create(rewriter, loc, words, bits),
        f.integer(kBitsOfNone));
    return success();
  }
};

/// Leaves the multiply-adds whose bits `SumInF64` computes.
struct MultiplyAddInF64 : OpRewritePattern<math::FmaOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::FmaOp op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32() ||
        llvm::all_of(op->getUsers(), llvm::IsaPred<arith::BitcastOp>))
      return rewriter.notifyMatchFailure(op, "is not a number of f32");
    Location loc = op.getLoc();
    Value product =
        arith::MulFOp::create(rewriter, loc, extend(rewriter, loc, op.getA()),
                              extend(rewriter, loc, op.getB()));
    Value sum = arith::AddFOp::create(rewriter, loc, product,
                                      extend(rewriter, loc, op.getC()));
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(), sum);
    return success();
  }
};

struct ExpandFMAPass : ingot::impl::ExpandFMABase<ExpandFMAPass> {
  void runOnOperation() override {
    if (TargetInfo::of(getOperation()).hasFMA)
      return;
    RewritePatternSet patterns(&getContext());
    patterns.add<MultiplyAddInF64, SumInF64>(&getContext());
    rewriteInOneWalk(getOperation(), std::move(patterns));
  }
};

} // namespace
