//===- TopKToCuda.cpp - top k to cuda ops ---------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cuda/CudaDialect.h"
#include "dialects/nn/NNDialect.h"
#include "passes/cuda/lower/CudaSupport.h"
#include "passes/cuda/lower/NNToCuda.h"
#include "passes/support/Tensors.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace ingot;
using support::Sizes;
using support::typeOf;

namespace {

struct TopKPattern : OpRewritePattern<nn::TopKOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nn::TopKOp op,
                                PatternRewriter &b) const override;
};

} // namespace

LogicalResult TopKPattern::matchAndRewrite(nn::TopKOp op,
                                           PatternRewriter &b) const {
  if (Reason reason = cuda::whyNotToCuda(op))
    return b.notifyMatchFailure(op, *reason);
  Location loc = op.getLoc();
  Sizes sizes = support::sizesOf(b, loc, op.getX());
  OpFoldResult rows =
      support::productOf(b, loc, ArrayRef<OpFoldResult>(sizes).drop_back());
  OpFoldResult k = b.getIndexAttr(typeOf(op.getValues()).getShape().back());
  Value x = support::reshape(b, loc, op.getX(), {rows, sizes.back()});
  sizes.back() = k;
  Value values = support::empty(b, loc, {rows, k}, b.getF32Type()),
        indices = support::empty(b, loc, {rows, k}, b.getI64Type());
  auto kernel = cuda::TopKOp::create(
      b, loc, TypeRange{values.getType(), indices.getType()}, x, values,
      indices, op.getSmallest());
  SmallVector<Value> results;
  for (auto [result, found] :
       llvm::zip_equal(op->getResults(), kernel.getResults()))
    results.push_back(support::castTo(
        b, loc, support::reshape(b, loc, found, sizes), result.getType()));
  b.replaceOp(op, results);
  return success();
}

void cuda::populateTopKToCuda(RewritePatternSet &patterns) {
  patterns.add<TopKPattern>(patterns.getContext());
}
