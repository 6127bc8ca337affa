//===- DecomposeByteAttention.cpp - attention of bytes as products --------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes an attention of bytes that no kernel took as products of f32, softmax
// and roundings.
//
//===----------------------------------------------------------------------===//
#include "passes/loops/NNMaker.h"
#include "passes/loops/Patterns.h"
#include "passes/support/Tensors.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::support;

namespace {

/// Builds ops of f32 in place of an attention.
struct AttentionMaker : loops::NNMaker {
  Value number(double value) { return scalar(b.getF32Type(), value); }
  Value clamp(Value x, double least, double most) {
    return make<nn::ClampOp>(x, b.getF64FloatAttr(least),
                             b.getF64FloatAttr(most));
  }
  /// Returns the bytes of heads minus their zero point, with the heads in
  /// front.
  Value headsInFront(Value bytes, int64_t zero) {
    Value x = cast(bytes, b.getF32Type());
    x = make<nn::SubOp>(x, number(double(zero)));
    return make<nn::TransposeOp>(x, ArrayRef<int64_t>{0, 2, 1, 3});
  }
  Value round(Value x, std::optional<ArrayRef<float>> rounding) {
    if (!rounding)
      return x;
    Value scale = number((*rounding)[0]);
    x = make<nn::RoundOp>(make<nn::DivOp>(x, scale));
    return make<nn::MulOp>(clamp(x, (*rounding)[1], (*rounding)[2]), scale);
  }
};

struct DecomposeByteAttention : OpRewritePattern<nn::ByteAttentionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::ByteAttentionOp op,
                                PatternRewriter &rewriter) const override {
    AttentionMaker m{rewriter, op.getLoc()};
    auto times = [&](Value x, APFloat factor) {
      return m.make<nn::MulOp>(x, m.number(factor.convertToDouble()));
    };
    auto multiply = [&](Value x, Value y, bool isTransposed) {
      return m.make<nn::MatMulOp>(x, y, /*bias=*/Value(),
                                  /*transpose_a=*/false,
                                  /*transpose_b=*/isTransposed);
    };
    Value x = multiply(m.headsInFront(op.getQ(), op.getQZeroPoint()),
                       m.headsInFront(op.getK(), op.getKZeroPoint()),
                       /*isTransposed=*/true);
    x = m.round(times(x, op.getProductScale()), op.getProductRounding());
    x = m.round(times(x, op.getScale()), op.getScoreRounding());
    if (Value mask = op.getMask())
      x = m.make<nn::AddOp>(x, mask);
    x = m.round(x, op.getMaskedRounding());
    Value p = m.make<nn::SoftmaxOp>(x, /*axis=*/3, /*log=*/false);
    p = m.make<nn::DivOp>(p, m.number(op.getPScale().convertToDouble()));
    p = m.clamp(m.make<nn::RoundOp>(p), 0, double(op.getPMost()));
    Value y = multiply(p, m.headsInFront(op.getV(), op.getVZeroPoint()),
                       /*isTransposed=*/false);
    y = times(y, op.getResultScale());
    rewriter.replaceOp(
        op, m.make<nn::TransposeOp>(y, ArrayRef<int64_t>{0, 2, 1, 3}));
    return success();
  }
};

} // namespace

void loops::populateByteAttentionDecomposition(RewritePatternSet &patterns) {
  patterns.add<DecomposeByteAttention>(patterns.getContext());
}
