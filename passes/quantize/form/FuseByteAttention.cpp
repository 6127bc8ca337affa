//===- FuseByteAttention.cpp - nn-fuse-byte-attention ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"
#include "dialects/nn/Scalars.h"
#include "passes/backend/Policy.h"
#include "passes/quantize/QuantizationParameters.h"
#include "passes/quantize/form/Passes.h"
#include "passes/shape/SameSizes.h"
#include "passes/support/Producers.h"
#include "passes/support/Reason.h"
#include "passes/support/Rewrite.h"
#include "passes/support/Scalars.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>

namespace ingot {
#define GEN_PASS_DEF_FUSEBYTEATTENTION
#include "passes/quantize/form/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::quantize;

/// The permutation from `B, H, L, D` to `B, L, H, D`. The inverse is equal.
static constexpr int64_t kSwapHeads[] = {0, 2, 1, 3};
/// The permutation from `B, H, D, L` to `B, L, H, D`.
static constexpr int64_t kSwapKeys[] = {0, 3, 1, 2};

namespace {

/// A rounding to a grid: scale, least and greatest integer. Empty if there is
/// none.
using Rounding = SmallVector<float, 3>;

/// An attention whose products multiply dequantized bytes.
struct ByteAttentionMatch {
  nn::MatMulOp scores, result;
  nn::DequantizeOp q, k, v, p;
  Rounding ofProduct, ofScores, ofMasked;
  double scale = 1;
  Value mask;
  SmallVector<Location> locations;

  /// Matches an attention that ends with `op`, and fills the fields. Otherwise
  /// returns the reason.
  Reason match(nn::MatMulOp op, const shape::SameSizes &sizes);
  /// Returns the greatest integer of a probability.
  int64_t mostOfP() {
    return rangeOf(typeOf(p.getX()).getElementType()).second -
           getScale(p)->zeroPoint;
  }
  /// Says why one kernel cannot compute the attention.
  Reason whyNotShapes(const shape::SameSizes &sizes) const;

private:
  Value dropRounding(Value value, Rounding &rounding);
  Value dropScale(Value value);
  nn::MatMulOp matchScores(Value value);
};

struct FuseAttentionOfBytes : OpRewritePattern<nn::MatMulOp> {
  FuseAttentionOfBytes(MLIRContext *context, shape::SameSizes &sizes,
                       Pass::Statistic &count)
      : OpRewritePattern(context), sizes(sizes), count(count) {}

  LogicalResult matchAndRewrite(nn::MatMulOp op,
                                PatternRewriter &rewriter) const override;

  shape::SameSizes &sizes;
  Pass::Statistic &count;
};

struct FuseByteAttentionPass
    : ingot::impl::FuseByteAttentionBase<FuseByteAttentionPass> {
  using FuseByteAttentionBase::FuseByteAttentionBase;

  void runOnOperation() override {
    // Sizes are analyzed only for models that quantize values.
    auto find = [](nn::QuantizeOp) { return WalkResult::interrupt(); };
    if (!getOperation().walk(find).wasInterrupted())
      return;
    shape::SameSizes sizes(getOperation());
    RewritePatternSet patterns(&getContext());
    patterns.add<FuseAttentionOfBytes>(&getContext(), sizes, numAttentions);
    rewriteInOneWalk(getOperation(), std::move(patterns));
    if (numAttentions != 0)
      eraseDead();
  }

private:
  /// Erases the ops that attentions replaced. Users come before operands.
  void eraseDead() {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (isa<nn::AddOp, nn::DequantizeOp, nn::DivOp, nn::MatMulOp, nn::MulOp,
              nn::QuantizeOp, nn::SoftmaxOp, nn::TransposeOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : llvm::reverse(ops))
      if (isOpTriviallyDead(op))
        op->erase();
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Recognition
//===----------------------------------------------------------------------===//

/// Returns the op whose only result is `value`, if the value has one use.
template <typename Op>
static Op soleProducer(Value value) {
  return value.hasOneUse() ? value.getDefiningOp<Op>() : Op();
}

/// Returns the dequantize of bytes with one constant scale that computes
/// `value`, or null.
static nn::DequantizeOp matchBytes(Value value) {
  nn::DequantizeOp op = getDequantize(value);
  return op && nn::isByte(typeOf(op.getX()).getElementType())
             ? op
             : nn::DequantizeOp();
}

/// Returns the quantize that computes the operand of `op` with equal scales, if
/// nothing else reads its result.
static nn::QuantizeOp matchQuantize(nn::DequantizeOp op) {
  auto quantize = soleProducer<nn::QuantizeOp>(op.getX());
  return quantize && getScale(quantize) &&
                 *getScale(quantize) == *getScale(op) &&
                 typeOf(quantize.getX()).getElementType().isF32()
             ? quantize
             : nn::QuantizeOp();
}

/// Matches `value = dequantize(quantize(x))`. Returns `x`, and sets `rounding`.
Value ByteAttentionMatch::dropRounding(Value value, Rounding &rounding) {
  nn::DequantizeOp back =
      value.hasOneUse() ? getDequantize(value) : nn::DequantizeOp();
  nn::QuantizeOp quantize = back ? matchQuantize(back) : nn::QuantizeOp();
  Type element = quantize ? typeOf(quantize.getY()).getElementType() : Type();
  if (!element || element.getIntOrFloatBitWidth() > 16)
    return value;
  const Scale grid = *getScale(quantize);
  auto [least, most] = rangeOf(element);
  rounding = {float(grid.scale), float(least - grid.zeroPoint),
              float(most - grid.zeroPoint)};
  locations.push_back(back.getLoc());
  return quantize.getX();
}

/// Matches products with numbers. Returns the other factor, and multiplies
/// `scale` by the numbers.
Value ByteAttentionMatch::dropScale(Value value) {
  Value x;
  while (value.hasOneUse()) {
    std::optional<double> factor =
        support::matchScalar<nn::MulOp>(value, x, /*either=*/true);
    if (!factor) {
      factor = support::matchScalar<nn::DivOp>(value, x);
      if (factor)
        *factor = 1 / *factor;
    }
    if (!factor)
      break;
    scale *= *factor;
    locations.push_back(value.getLoc());
    value = x;
  }
  return value;
}

/// Matches scores before the mask. Returns their product, or null.
nn::MatMulOp ByteAttentionMatch::matchScores(Value value) {
  scale = 1;
  ofScores.clear();
  ofProduct.clear();
  value = dropScale(dropRounding(value, ofScores));
  return soleProducer<nn::MatMulOp>(dropRounding(value, ofProduct));
}

Reason ByteAttentionMatch::match(nn::MatMulOp op,
                                 const shape::SameSizes &sizes) {
  result = op;
  locations.push_back(op.getLoc());
  p = matchBytes(op.getA());
  v = matchBytes(op.getB());
  if (!p || !v || !p->hasOneUse() || op.getTransposeA() || op.getTransposeB() ||
      op.getBias() || !op.getType().getElementType().isF32())
    return "is not a plain product of two factors of bytes";
  nn::QuantizeOp quantize = matchQuantize(p);
  auto softmax =
      quantize ? soleProducer<nn::SoftmaxOp>(quantize.getX()) : nn::SoftmaxOp();
  if (!softmax || softmax.getLog() ||
      int64_t(softmax.getAxis()) != op.getType().getRank() - 1)
    return "has a left factor that is not a quantized softmax";
  locations.push_back(softmax.getLoc());
  Value sum = dropRounding(softmax.getX(), ofMasked);
  auto add = soleProducer<nn::AddOp>(sum);
  if (!add) {
    scores = matchScores(sum);
  } else {
    locations.push_back(add.getLoc());
    for (unsigned i : {0, 1}) {
      Value other = add->getOperand(1 - i);
      if (scores || add->getOperand(i).getType() != sum.getType())
        continue;
      const size_t before = locations.size();
      scores = matchScores(add->getOperand(i));
      if (scores)
        mask = other;
      else
        locations.truncate(before);
    }
  }
  if (!scores || scores.getTransposeA() || scores.getBias())
    return "has a softmax of something else than scaled scores";
  locations.push_back(scores.getLoc());
  q = matchBytes(scores.getA());
  k = matchBytes(scores.getB());
  if (!q || !k)
    return "has scores that are not a product of two factors of bytes";
  if (mostOfP() < 1)
    return "has probabilities whose zero point leaves no numbers above 0";
  for (double number :
       {getScale(q)->scale * getScale(k)->scale, getScale(p)->scale,
        getScale(p)->scale * getScale(v)->scale})
    if (!std::isnormal(float(number)) || number < 0)
      return "has scales whose products f32 does not hold";
  return whyNotShapes(sizes);
}

Reason ByteAttentionMatch::whyNotShapes(const shape::SameSizes &sizes) const {
  nn::DequantizeOp left = q, right = k, values = v;
  auto isSame = [&](Value a, int64_t i, Value b, int64_t j) {
    int64_t size = typeOf(a).getDimSize(i);
    return size == typeOf(b).getDimSize(j) &&
           (!ShapedType::isDynamic(size) || sizes.isSame(a, i, b, j));
  };
  Value first = left.getY();
  for (Value other : {right.getY(), values.getY()})
    if (typeOf(first).getRank() != 4 || typeOf(other).getRank() != 4 ||
        !isSame(first, 0, other, 0) || !isSame(first, 1, other, 1))
      return "has queries, keys or values of another rank than 4, or whose "
             "batches broadcast, or may";
  if (ShapedType::isDynamic(typeOf(first).getDimSize(1)))
    return "has an open number of heads";
  if (!mask)
    return std::nullopt;
  nn::MatMulOp product = scores;
  const int64_t rank = typeOf(mask).getRank(), missing = 4 - rank;
  bool fits = typeOf(mask).getElementType().isF32() && rank > 0 && rank <= 4 &&
              isSame(mask, rank - 1, product.getY(), 3);
  for (int64_t i = 0; fits && i + 1 < rank; ++i)
    fits = typeOf(mask).getDimSize(i) == 1 ||
           isSame(mask, i, product.getY(), missing + i);
  if (!fits)
    return "has a mask " + describe(typeOf(mask)) + " for scores " +
           describe(typeOf(product.getY()));
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

/// Permutes the dimensions of `x`. A transpose that computes `x` is merged.
static Value permute(OpBuilder &builder, Location loc, Value x,
                     ArrayRef<int64_t> perm) {
  SmallVector<int64_t> merged(perm);
  if (auto before = x.getDefiningOp<nn::TransposeOp>()) {
    for (int64_t &dim : merged)
      dim = before.getPerm()[dim];
    x = before.getX();
  }
  if (llvm::equal(merged, llvm::seq<int64_t>(0, int64_t(merged.size()))))
    return x;
  SmallVector<int64_t> shape;
  for (int64_t dim : merged)
    shape.push_back(typeOf(x).getDimSize(dim));
  return nn::TransposeOp::create(builder, loc, typeOf(x).clone(shape), x,
                                 merged);
}

/// Returns a type with permuted dimensions.
static RankedTensorType permuted(RankedTensorType type,
                                 ArrayRef<int64_t> perm) {
  SmallVector<int64_t> shape;
  for (int64_t dim : perm)
    shape.push_back(type.getDimSize(dim));
  return type.clone(shape);
}

LogicalResult
FuseAttentionOfBytes::matchAndRewrite(nn::MatMulOp op,
                                      PatternRewriter &rewriter) const {
  ByteAttentionMatch match;
  if (Reason reason = match.match(op, sizes))
    return rewriter.notifyMatchFailure(op, *reason);
  ArrayRef<int64_t> orderOfKeys =
      match.scores.getTransposeB() ? kSwapHeads : kSwapKeys;
  RankedTensorType q = permuted(typeOf(match.q), kSwapHeads),
                   k = permuted(typeOf(match.k), orderOfKeys),
                   v = permuted(typeOf(match.v), kSwapHeads);
  const Answer<bool> answer = Policy::of(op).fuseByteAttention(op, q, k, v);
  if (!record(op, Question::precision, answer, "int8 in one kernel",
              "separate products"))
    return rewriter.notifyMatchFailure(op, answer.reason);

  Location loc = FusedLoc::get(getContext(),
                               llvm::to_vector(llvm::reverse(match.locations)));
  auto inside = [&](nn::DequantizeOp factor, ArrayRef<int64_t> perm) {
    return permute(rewriter, loc, factor.getX(), perm);
  };
  auto real = [&](double value) {
    return rewriter.getF32FloatAttr(float(value));
  };
  auto roundingAttr = [&](const Rounding &rounding) {
    return rounding.empty() ? DenseF32ArrayAttr()
                            : rewriter.getDenseF32ArrayAttr(rounding);
  };
  const Scale ofQ = *getScale(match.q), ofK = *getScale(match.k),
              ofV = *getScale(match.v), ofP = *getScale(match.p);
  Value mask = match.mask
                   ? support::expandRank(rewriter, match.mask, /*rank=*/4)
                   : Value();
  auto attention = nn::ByteAttentionOp::create(
      rewriter, loc,
      RankedTensorType::get(
          {q.getDimSize(0), q.getDimSize(1), q.getDimSize(2), v.getDimSize(3)},
          rewriter.getF32Type()),
      inside(match.q, kSwapHeads), inside(match.k, orderOfKeys),
      inside(match.v, kSwapHeads), mask,
      rewriter.getI64IntegerAttr(ofQ.zeroPoint),
      rewriter.getI64IntegerAttr(ofK.zeroPoint),
      rewriter.getI64IntegerAttr(ofV.zeroPoint), real(ofQ.scale * ofK.scale),
      roundingAttr(match.ofProduct), real(match.scale),
      roundingAttr(match.ofScores), roundingAttr(match.ofMasked),
      real(ofP.scale), rewriter.getI64IntegerAttr(match.mostOfP()),
      real(ofP.scale * ofV.scale));
  Value y = permute(rewriter, loc, attention, kSwapHeads);
  if (y.getType() != op.getType())
    y = tensor::CastOp::create(rewriter, loc, op.getType(), y);
  sizes.forget(op);
  rewriter.replaceOp(op, y);
  ++count;
  return success();
}
