//===- DropIdentities.cpp - nn-drop-identities ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/NNDialect.h"
#include "dialects/nn/TensorTypes.h"
#include "passes/shape/Passes.h"
#include "passes/shape/SameSizes.h"
#include "passes/support/Rewrite.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace ingot {
#define GEN_PASS_DEF_DROPIDENTITIES
#include "passes/shape/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

namespace {

/// Replaces an op by its first operand if the operand has the sizes of the
/// result.
template <typename Op> struct DropIdentityPattern : OpRewritePattern<Op> {
  DropIdentityPattern(MLIRContext *context, shape::SameSizes &sizes)
      : OpRewritePattern<Op>(context), sizes(sizes) {}

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    Value x = op->getOperand(0), y = op->getResult(0);
    auto type = dyn_cast<RankedTensorType>(y.getType());
    if (!type || x.getType() != type)
      return rewriter.notifyMatchFailure(op, "gives another type");
    for (int64_t i = 0; i < type.getRank(); ++i)
      if (type.isDynamicDim(i) && !sizes.isSame(x, i, y, i))
        return rewriter.notifyMatchFailure(op, "may give other sizes");
    sizes.forget(op);
    rewriter.replaceOp(op, x);
    return success();
  }

  shape::SameSizes &sizes;
};

struct DropIdentitiesPass
    : ingot::impl::DropIdentitiesBase<DropIdentitiesPass> {
  void runOnOperation() override {
    shape::SameSizes sizes(getOperation());
    RewritePatternSet patterns(&getContext());
    patterns.add<DropIdentityPattern<nn::BroadcastToOp>,
                 DropIdentityPattern<tensor::ReshapeOp>>(&getContext(), sizes);
    rewriteInOneWalk(getOperation(), std::move(patterns));
  }
};

} // namespace
