//===- FuseMultiplyAdds.cpp - fuse-multiply-adds --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/math/Passes.h"
#include "passes/support/Rewrite.h"
#include "passes/support/Views.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

namespace ingot {
#define GEN_PASS_DEF_FUSEMULTIPLYADDS
#include "passes/math/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

/// Limit of ops to search between a sum of integers and a product of floats.
static constexpr int kMaxDepth = 16;

/// Returns the buffer that `op` loads from, or null.
static Value loadedFrom(Operation *op) {
  Value buffer =
      llvm::TypeSwitch<Operation *, Value>(op)
          .Case<memref::LoadOp>([](auto load) { return load.getMemRef(); })
          .Case<vector::LoadOp, vector::MaskedLoadOp, vector::TransferReadOp>(
              [](auto load) { return load.getBase(); })
          .Default(Value());
  return buffer ? support::baseOf(buffer) : buffer;
}

/// Returns true if a kernel computes `value`, an integer of 32 bits, as a sum.
/// Kernels keep sums in values or on the stack. Other buffers may hold widened
/// bytes.
static bool isSum(Value value, int depth = 0) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return !isa<FunctionOpInterface>(value.getParentBlock()->getParentOp());
  if (depth > kMaxDepth)
    return false;
  if (isa<arith::AddIOp, arith::SubIOp>(op))
    return llvm::any_of(op->getOperands(), [&](Value operand) {
      return isSum(operand, depth + 1);
    });
  if (Value buffer = loadedFrom(op))
    return bool(buffer.getDefiningOp<memref::AllocaOp>());
  return !isa<arith::ExtSIOp, arith::ExtUIOp, arith::ConstantOp>(op);
}

/// Returns true if `value` is computed from sums of integers.
static bool isOfSums(Value value, int depth = 0) {
  Operation *op = value.getDefiningOp();
  if (!op || depth > kMaxDepth)
    return false;
  if (auto cast = dyn_cast<arith::SIToFPOp>(op))
    return getElementTypeOrSelf(cast.getIn().getType()).isInteger(32) &&
           isSum(cast.getIn());
  return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::MaximumFOp,
             arith::MinimumFOp, math::FmaOp>(op) &&
         llvm::any_of(op->getOperands(), [&](Value operand) {
           return isOfSums(operand, depth + 1);
         });
}

namespace {

struct FuseMultiplyAdd : OpRewritePattern<arith::AddFOp> {
  FuseMultiplyAdd(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(arith::AddFOp op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return rewriter.notifyMatchFailure(op, "is not of f32");
    Value x = op.getLhs(), y = op.getRhs();
    auto isProduct = [](Value value) {
      return value.hasOneUse() && value.getDefiningOp<arith::MulFOp>();
    };
    if (!isProduct(x))
      std::swap(x, y);
    if (!isProduct(x))
      return rewriter.notifyMatchFailure(
          op, "adds no product, or one with other users");
    if (!isOfSums(x))
      return rewriter.notifyMatchFailure(
          op, "adds a product that is not of sums of integers");
    auto product = x.getDefiningOp<arith::MulFOp>();
    rewriter.replaceOpWithNewOp<math::FmaOp>(op, product.getLhs(),
                                             product.getRhs(), y);
    ++count;
    return success();
  }

  Pass::Statistic &count;
};

struct FuseMultiplyAddsPass
    : ingot::impl::FuseMultiplyAddsBase<FuseMultiplyAddsPass> {
  using FuseMultiplyAddsBase::FuseMultiplyAddsBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FuseMultiplyAdd>(&getContext(), numFused);
    rewriteInOneWalk(getOperation(), std::move(patterns));
  }
};

} // namespace
