//===- RoundToInteger.cpp - round-to-integer ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/codegen/cpu/Passes.h"
#include "passes/support/Rewrite.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace ingot {
#define GEN_PASS_DEF_ROUNDTOINTEGER
#include "passes/codegen/cpu/Passes.h.inc"
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

/// Whether `value` only becomes integers: of what is no number, any.
bool becomesInteger(Value value) {
  return llvm::all_of(value.getUsers(), [](Operation *user) {
    if (isa<arith::FPToSIOp, LLVM::LrintOp>(user))
      return true;
    return isa<math::RoundEvenOp, arith::AddFOp, arith::MaximumFOp,
               arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp>(user) &&
           becomesInteger(user->getResult(0));
  });
}

/// The larger or smaller of two, without a look for what is no number.
template <typename From, typename To>
struct BoundNumbers : OpRewritePattern<From> {
  using OpRewritePattern<From>::OpRewritePattern;

  LogicalResult matchAndRewrite(From op,
                                PatternRewriter &rewriter) const override {
    if (!isa<VectorType>(op.getType()) || !becomesInteger(op.getResult()))
      return rewriter.notifyMatchFailure(
          op, "is no vector that only becomes integers");
    rewriter.replaceOpWithNewOp<To>(op, op.getLhs(), op.getRhs());
    return success();
  }
};

struct RoundToIntegerPass
    : ingot::impl::RoundToIntegerBase<RoundToIntegerPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<RoundWhileConverting,
                 BoundNumbers<arith::MaximumFOp, arith::MaxNumFOp>,
                 BoundNumbers<arith::MinimumFOp, arith::MinNumFOp>>(
        &getContext());
    rewriteInOneWalk(getOperation(), std::move(patterns));
  }
};

} // namespace
