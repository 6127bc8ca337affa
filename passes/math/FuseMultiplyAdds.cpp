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

/// Returns true if `value` is a kernel's sum of integers, which may be added as
/// floats, perhaps with other whole numbers.
static bool isWholeSum(Value value, int depth = 0) {
  if (auto cast = value.getDefiningOp<arith::SIToFPOp>())
    return getElementTypeOrSelf(cast.getIn().getType()).isInteger(32) &&
           isSum(cast.getIn());
  Operation *op = value.getDefiningOp();
  if (!op || isa<vector::FMAOp>(op) || loadedFrom(op))
    return isSum(value);
  auto sum = value.getDefiningOp<arith::AddFOp>();
  return sum && depth < kMaxDepth &&
         llvm::any_of(sum->getOperands(), [&](Value operand) {
           return isWholeSum(operand, depth + 1);
         });
}

/// Returns true if `product` is a number of a row times numbers of columns.
static bool isRowTimesColumns(arith::MulFOp product) {
  return llvm::any_of(product->getOperands(), [](Value factor) {
    return factor.getDefiningOp<vector::BroadcastOp>();
  });
}

namespace {

/// Allows LLVM to fuse a product of a row and a column with the integer sum
/// that it is added to. Both are whole numbers that f32 holds, so levels
/// without the instruction round to the same number.
struct ContractWholeSum : OpRewritePattern<arith::AddFOp> {
  ContractWholeSum(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern(context, /*benefit=*/2), count(count) {}

  LogicalResult matchAndRewrite(arith::AddFOp op,
                                PatternRewriter &rewriter) const override {
    auto flags = op.getFastmath() | arith::FastMathFlags::contract;
    if (flags == op.getFastmath())
      return rewriter.notifyMatchFailure(op, "may be fused already");
    for (OpOperand &operand : op->getOpOperands()) {
      auto product = operand.get().getDefiningOp<arith::MulFOp>();
      if (!product || !product->hasOneUse() || !isRowTimesColumns(product) ||
          !isWholeSum(op->getOperand(1 - operand.getOperandNumber())))
        continue;
      rewriter.modifyOpInPlace(op, [&] { op.setFastmath(flags); });
      rewriter.modifyOpInPlace(product, [&] { product.setFastmath(flags); });
      ++count;
      return success();
    }
    return rewriter.notifyMatchFailure(
        op, "adds no row times columns to a sum of integers");
  }

  Pass::Statistic &count;
};

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
    patterns.add<ContractWholeSum, FuseMultiplyAdd>(&getContext(), numFused);
    rewriteInOneWalk(getOperation(), std::move(patterns));
  }
};

} // namespace
