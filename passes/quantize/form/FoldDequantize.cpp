//===- FoldDequantize.cpp - nn-fold-dequantize ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"
#include "passes/quantize/form/Passes.h"
#include "passes/quantize/form/ProductOperands.h"
#include "passes/quantize/form/RoundedQuotient.h"
#include "passes/support/Rewrite.h"
#include "passes/support/ScaleShift.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

namespace ingot {
#define GEN_PASS_DEF_FOLDDEQUANTIZE
#include "passes/quantize/form/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::quantize;
using support::typeOf;

/// Limit of ops between the scale and a product.
static constexpr int kMaxDepth = 4;

/// Limit of the weights of a product. For larger products, the scales of their
/// data take little of the time.
static constexpr int64_t kMaxWeights = int64_t(1) << 20;

/// Returns true if scaling the weights of `op`, a user of `value`, scales its
/// result, apart from the bias.
static bool takesFactor(Operation *op, Value value, double factor) {
  if (!isa<nn::ConvOp, nn::ConvTransposeOp, nn::MatMulOp>(op) ||
      op->getOperand(0) != value || op->getOperand(1) == value)
    return false;
  RankedTensorType weights = typeOf(op->getOperand(1));
  if (!weights.getElementType().isF32() || !weights.hasStaticShape() ||
      weights.getNumElements() > kMaxWeights)
    return false;
  auto numbers = nn::getConstantDoubles(op->getOperand(1));
  return numbers && llvm::all_of(*numbers, [&](double number) {
           return holdsProduct(number, factor);
         });
}

/// Collects the products that read `value`. Returns false if another op reads
/// `value`, or if a product has no weights that take `factor`.
static bool findProducts(Value value, double factor,
                         SmallVectorImpl<Operation *> &products,
                         int depth = 0) {
  return depth <= kMaxDepth &&
         llvm::all_of(value.getUsers(), [&](Operation *user) {
           if (isa<nn::ReshapeOp, nn::TransposeOp>(user))
             return user->getOperand(0) == value &&
                    findProducts(user->getResult(0), factor, products,
                                 depth + 1);
           products.push_back(user);
           return takesFactor(user, value, factor);
         });
}

namespace {

struct ScaleWeights : OpRewritePattern<nn::MulOp> {
  ScaleWeights(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(nn::MulOp op,
                                PatternRewriter &rewriter) const override {
    Value data = op.getA();
    std::optional<double> scale = nn::getSplat(op.getB());
    if (!scale || !(*scale > 0) || !std::isfinite(*scale) ||
        !data.getDefiningOp<nn::RoundOp>() ||
        data.getType() != op->getResult(0).getType() ||
        !typeOf(data).getElementType().isF32())
      return rewriter.notifyMatchFailure(op, "is not of integers by a scale");
    SmallVector<Operation *> products;
    if (!findProducts(op->getResult(0), *scale, products) || products.empty())
      return rewriter.notifyMatchFailure(
          op, "has a user without weights that take the scale");
    for (Operation *product : products) {
      Value weights = product->getOperand(1);
      rewriter.setInsertionPoint(product);
      Value scaled = support::scaleWeights(
          rewriter, weights.getLoc(), weights, /*rows=*/1, /*columns=*/1,
          [&](int64_t, int64_t) { return *scale; });
      rewriter.modifyOpInPlace(product,
                               [&] { product->setOperand(1, scaled); });
    }
    rewriter.replaceOp(op, data);
    ++count;
    return success();
  }
  Pass::Statistic &count;
};

struct FoldDequantizePass
    : ingot::impl::FoldDequantizeBase<FoldDequantizePass> {
  using FoldDequantizeBase::FoldDequantizeBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ScaleWeights>(&getContext(), numFolded);
    rewriteInOneWalk(getOperation(), std::move(patterns));
    eraseUnread(getOperation());
  }
};

} // namespace
