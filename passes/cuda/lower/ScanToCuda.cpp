//===- ScanToCuda.cpp - running sums to cuda ops --------------------------===//
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

namespace {

struct CumSumPattern : OpRewritePattern<nn::CumSumOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nn::CumSumOp op,
                                PatternRewriter &b) const override;
};

} // namespace

LogicalResult CumSumPattern::matchAndRewrite(nn::CumSumOp op,
                                             PatternRewriter &b) const {
  if (Reason reason = cuda::whyNotToCuda(op))
    return b.notifyMatchFailure(op, *reason);
  Location loc = op.getLoc();
  const auto axis = size_t(op.getAxis());
  Sizes sizes = support::sizesOf(b, loc, op.getX());
  ArrayRef<OpFoldResult> all = sizes;
  Value x = support::reshape(
      b, loc, op.getX(),
      {support::productOf(b, loc, all.take_front(axis)), sizes[axis],
       support::productOf(b, loc, all.drop_front(axis + 1))});
  auto kernel = cuda::ScanOp::create(
      b, loc, x.getType(), x, support::emptyLike(b, loc, x), op.getExclusive(),
      op.getReverse(), op.getProduct());
  Value y = support::reshape(b, loc, kernel.getResult(), sizes);
  b.replaceOp(op, support::castTo(b, loc, y, op.getY().getType()));
  return success();
}

void cuda::populateScanToCuda(RewritePatternSet &patterns) {
  patterns.add<CumSumPattern>(patterns.getContext());
}
