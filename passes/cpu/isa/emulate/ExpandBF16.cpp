//===- ExpandBF16.cpp - expand-bf16 ---------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/Passes.h"
#include "passes/cpu/schedule/Tiling.h"
#include "passes/support/FloatBuilder.h"
#include "passes/support/Rewrite.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/IR/TypeUtilities.h"

namespace ingot {
#define GEN_PASS_DEF_EXPANDBF16
#include "passes/cpu/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

namespace {

/// Rounds to the nearest bf16, ties to even; NaN stays NaN. All operations have
/// 32 bits. Upstream's pattern selects among 16-bit values instead. LLVM turns
/// such a selection into bf16, and handles it lane by lane.
struct RoundF32 : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &b) const override {
    Value x = op.getIn();
    if (!getElementTypeOrSelf(x).isF32() ||
        !getElementTypeOrSelf(op.getType()).isBF16())
      return b.notifyMatchFailure(op, "is not from f32 to bf16");
    Location loc = op.getLoc();
    const elementary::FloatBuilder f{b, loc, x.getType(), /*hasFMA=*/false};
    Value bits = f.bitsOf(x);
    Value half = f.integer(16);
    Value odd = arith::AndIOp::create(
        b, loc, arith::ShRUIOp::create(b, loc, bits, half), f.integer(1));
    Value up = arith::AddIOp::create(b, loc, odd, f.integer(0x7fff));
    Value rounded = arith::AddIOp::create(b, loc, bits, up);
    Value quiet = arith::OrIOp::create(b, loc, bits, f.integer(1 << 22));
    Value isNaN =
        arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, x, x);
    Value kept = arith::SelectOp::create(b, loc, isNaN, quiet, rounded);
    Value upper = arith::TruncIOp::create(
        b, loc, f.integers(16), arith::ShRUIOp::create(b, loc, kept, half));
    b.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), upper);
    return success();
  }
};

/// Widens bf16 by a shift to the upper half of an f32. With `extf`, LLVM would
/// turn comparisons of f32 into comparisons of bf16, for which it has no
/// instructions. It then fails to select code if the result becomes an integer
/// of 16 bits.
struct WidenBF16 : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &b) const override {
    Value x = op.getIn();
    if (!getElementTypeOrSelf(x).isBF16() ||
        !getElementTypeOrSelf(op.getType()).isF32())
      return b.notifyMatchFailure(op, "is not from bf16 to f32");
    Location loc = op.getLoc();
    const elementary::FloatBuilder f{b, loc, op.getType(), /*hasFMA=*/false};
    Value half = arith::BitcastOp::create(b, loc, f.integers(16), x);
    Value wide = arith::ExtUIOp::create(b, loc, f.integers(32), half);
    b.replaceOp(op,
                f.ofBits(arith::ShLIOp::create(b, loc, wide, f.integer(16))));
    return success();
  }
};

struct ExpandBF16Pass : ingot::impl::ExpandBF16Base<ExpandBF16Pass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<WidenBF16>(&getContext());
    if (!TargetInfo::of(getOperation()).hasBF16)
      patterns.add<RoundF32>(&getContext());
    rewriteInOneWalk(getOperation(), std::move(patterns));
  }
};

} // namespace
