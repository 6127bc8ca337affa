//===- SkipStoredBytes.cpp - nn-skip-stored-bytes -------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"
#include "dialects/nn/NNDialect.h"
#include "dialects/nn/Scalars.h"
#include "passes/cpu/lower/Passes.h"
#include "passes/support/Intervals.h"
#include "passes/support/Rewrite.h"
#include "passes/support/Shapes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot {
#define GEN_PASS_DEF_SKIPSTOREDBYTES
#include "passes/cpu/lower/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using support::typeOf;

/// Limit of ops to search between the bytes and the end of their loop.
static constexpr int kMaxDepth = 16;

namespace {

/// An integer plus a constant.
struct Shifted {
  Value number;
  double shift;
};

} // namespace

/// Returns the cast that computes `value` from elements of another type, if
/// nothing else reads `value`, or null.
static nn::CastOp getOnlyCast(Value value) {
  return value.hasOneUse() ? value.getDefiningOp<nn::CastOp>() : nn::CastOp();
}

/// Splits a sum with a constant, or a difference from one, into both. Other
/// values have a shift of 0.
static Shifted splitShift(Value value) {
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<nn::AddOp, nn::SubOp>(op) && value.hasOneUse())
    if (std::optional<double> shift = nn::getSplat(op->getOperand(1)))
      return {op->getOperand(0), isa<nn::SubOp>(op) ? -*shift : *shift};
  return {value, 0};
}

/// Returns true if `value` is known before `op` is computed, apart from
/// elementwise ops that come later in the block.
static bool isKnownBefore(Value value, Operation *op, int depth = 0) {
  Operation *before = value.getDefiningOp();
  if (!before || before->getBlock() != op->getBlock() ||
      before->isBeforeInBlock(op))
    return true;
  return depth < kMaxDepth &&
         isa<nn::ElementwiseOpInterface, nn::ReshapeOp>(before) &&
         llvm::all_of(before->getOperands(), [&](Value operand) {
           return isKnownBefore(operand, op, depth + 1);
         });
}

/// Returns true if `op` reads floats from memory.
static bool isProduct(Operation *op) {
  return isa<nn::ConvOp, nn::ConvTransposeOp, nn::MatMulOp, nn::PackedMatMulOp>(
      op);
}

/// Returns true if all readers of `floats` are in the loop that computes
/// `root`, or read floats from memory in any case.
static bool areInLoop(Value floats, Operation *root, int depth = 0) {
  return depth < kMaxDepth &&
         llvm::all_of(floats.getUsers(), [&](Operation *user) {
           if (user->getNumResults() != 1 ||
               user->getBlock() != root->getBlock())
             return isa<func::ReturnOp>(user);
           if (!isa<nn::ElementwiseOpInterface>(user))
             return isProduct(user);
           Value result = user->getResult(0);
           return typeOf(result).getShape() == typeOf(floats).getShape() &&
                  llvm::all_of(user->getOperands(),
                               [&](Value operand) {
                                 return operand == floats ||
                                        isKnownBefore(operand, root);
                               }) &&
                  (!isa<FloatType>(typeOf(result).getElementType()) ||
                   areInLoop(result, root, depth + 1));
         });
}

namespace {

/// Replaces float(bytes(rounded + zero) - zero) by `rounded`.
struct ReadRounded : OpRewritePattern<nn::CastOp> {
  ReadRounded(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(nn::CastOp op,
                                PatternRewriter &rewriter) const override {
    RankedTensorType type = typeOf(op.getResult());
    if (!type.getElementType().isF32())
      return rewriter.notifyMatchFailure(op, "does not compute f32");
    auto [number, back] = splitShift(op.getX());
    // Bytes are widened before a zero point is subtracted.
    if (back != 0) {
      nn::CastOp wide = getOnlyCast(number);
      if (!wide)
        return rewriter.notifyMatchFailure(op, "does not widen bytes");
      number = wide.getX();
    }
    nn::CastOp bytes = getOnlyCast(number);
    if (!bytes || !nn::isByte(typeOf(number).getElementType()))
      return rewriter.notifyMatchFailure(
          op, "reads no bytes, or bytes with other readers");
    auto [whole, forth] = splitShift(bytes.getX());
    auto rounded = whole.getDefiningOp<nn::CastOp>();
    if (back + forth != 0 || !rounded || typeOf(rounded.getX()) != type ||
        !rounded.getX().getDefiningOp<nn::RoundOp>())
      return rewriter.notifyMatchFailure(
          op, "reads bytes that are not rounded with the same zero point");
    const double least =
        typeOf(number).getElementType().isUnsignedInteger() ? 0 : -128;
    if (!support::IntervalAnalysis()
             .intervalOf(rounded.getX())
             .isWithin(least - forth, least + 255 - forth))
      return rewriter.notifyMatchFailure(op,
                                         "reads bytes that may wrap around");
    if (!areInLoop(op.getResult(), bytes))
      return rewriter.notifyMatchFailure(
          op, "reads bytes in another loop, which are smaller than floats");
    rewriter.replaceOp(op, rounded.getX());
    ++count;
    return success();
  }

  Pass::Statistic &count;
};

struct SkipStoredBytesPass
    : ingot::impl::SkipStoredBytesBase<SkipStoredBytesPass> {
  using SkipStoredBytesBase::SkipStoredBytesBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ReadRounded>(&getContext(), numSkipped);
    if (failed(rewriteGreedily(getOperation(), std::move(patterns),
                               getArgument())))
      signalPassFailure();
  }
};

} // namespace
