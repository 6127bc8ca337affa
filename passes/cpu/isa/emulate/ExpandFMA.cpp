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
//===----------------------------------------------------------------------===//
#include "dialects/ingot/TargetInfo.h"
#include "passes/cpu/Passes.h"
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
    auto shaped = dyn_cast<ShapedType>(words);
    auto typeOf = [&](Type element) {
      return shaped ? Type(shaped.clone(element)) : element;
    };
    auto constant = [&](Type type, TypedAttr number) -> Value {
      if (shaped)
        number = DenseElementsAttr::get(cast<ShapedType>(type),
                                        Attribute(number));
      return arith::ConstantOp::create(rewriter, loc, number);
    };
    Type wide = typeOf(rewriter.getF64Type());
    auto extend = [&](Value value) -> Value {
      // Converts an integer that fits f32 directly to f64, which also
      // represents it.
      if (auto whole = value.getDefiningOp<arith::SIToFPOp>())
        return arith::SIToFPOp::create(rewriter, loc, wide, whole.getIn());
      return arith::ExtFOp::create(rewriter, loc, wide, value);
    };
    Value product = arith::MulFOp::create(rewriter, loc, extend(fma.getA()),
                                          extend(fma.getB()));
    Value shift = arith::AddFOp::create(
        rewriter, loc, extend(fma.getC()),
        constant(wide, rewriter.getF64FloatAttr(kWholeSteps)));
    Value bits = arith::BitcastOp::create(
        rewriter, loc, typeOf(rewriter.getI64Type()),
        arith::AddFOp::create(rewriter, loc, product, shift));
    rewriter.replaceOpWithNewOp<arith::AddIOp>(
        op, arith::TruncIOp::create(rewriter, loc, words, bits),
        constant(words, rewriter.getI32IntegerAttr(kBitsOfNone)));
    return success();
  }
};

struct ExpandFMAPass : ingot::impl::ExpandFMABase<ExpandFMAPass> {
  void runOnOperation() override {
    if (TargetInfo::of(getOperation()).hasFMA)
      return;
    RewritePatternSet patterns(&getContext());
    patterns.add<SumInF64>(&getContext());
    rewriteInOneWalk(getOperation(), std::move(patterns));
  }
};

} // namespace
