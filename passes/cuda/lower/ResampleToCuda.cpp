//===- ResampleToCuda.cpp - resizing to cuda ops --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cuda/CudaDialect.h"
#include "dialects/nn/NNDialect.h"
#include "passes/cuda/lower/CudaSupport.h"
#include "passes/cuda/lower/NNToCuda.h"
#include "passes/support/ResampleTables.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace ingot;

/// The most bytes of a table that the compiler computes. Others are computed in
/// each run.
static constexpr int64_t kMaxTableBytes = int64_t(1) << 24;

namespace {

struct ResizePattern : OpRewritePattern<nn::ResizeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nn::ResizeOp op,
                                PatternRewriter &b) const override;
};

} // namespace

LogicalResult ResizePattern::matchAndRewrite(nn::ResizeOp op,
                                             PatternRewriter &b) const {
  if (Reason reason = cuda::whyNotToCuda(op))
    return b.notifyMatchFailure(op, *reason);
  support::ResampleOperands operands = support::makeResampleOperands(
      b, op, /*joinsChannels=*/false, kMaxTableBytes);
  auto kernel = cuda::ResampleOp::create(
      b, op.getLoc(), operands.dst.getType(), operands.src, operands.positions,
      operands.weights, ValueRange(), operands.dst, uint64_t(operands.first),
      /*schedule=*/cuda::RowScheduleAttr());
  cuda::buildPlainEpilogue(b, op.getLoc(), kernel.getEpilogue());
  b.replaceOp(op, support::splitResampled(b, op, kernel.getResult()));
  return success();
}

void cuda::populateResampleToCuda(RewritePatternSet &patterns) {
  patterns.add<ResizePattern>(patterns.getContext());
}
