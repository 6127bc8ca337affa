//===- RecognizeNorms.cpp - nn-recognize-norms ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/graph/Passes.h"
#include "passes/support/Rewrite.h"
#include "passes/support/Scalars.h"
#include "passes/support/ScaleShift.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/DialectResourceBlobManager.h"

namespace ingot {
#define GEN_PASS_DEF_RECOGNIZENORMS
#include "passes/graph/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::support;

//===----------------------------------------------------------------------===//
// Parts of normalizations
//===----------------------------------------------------------------------===//

/// Matches mean(x) over the dimensions from `axis` on, if the result keeps
/// these dimensions. Returns x.
static Value matchMean(Value value, int64_t &axis) {
  auto reduce = value.getDefiningOp<nn::ReduceOp>();
  if (!reduce || reduce.getKind() != nn::ReduceKind::mean ||
      !reduce.getKeepDims() || reduce.getAxes().empty())
    return {};
  axis = reduce.getAxes().front();
  for (auto [i, dim] : llvm::enumerate(reduce.getAxes()))
    if (dim != axis + int64_t(i))
      return {};
  if (reduce.getAxes().back() != typeOf(reduce.getX()).getRank() - 1)
    return {};
  return reduce.getX();
}

/// Matches x^2, and returns x.
static Value matchSquare(Value value) {
  Value x;
  if (matchScalar<nn::PowOp>(value, x) == 2.0)
    return x;
  auto mul = value.getDefiningOp<nn::MulOp>();
  return mul && mul.getA() == mul.getB() ? mul.getA() : Value();
}

/// Returns true if two values are equal, or results of equal ops on equal
/// operands: exporters write x - mean(x) twice. Deeper duplicates are left to
/// CSE, because the number of paths to compare grows exponentially.
static bool isSame(Value a, Value b, int depth = 4) {
  if (a == b)
    return true;
  Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
  return depth > 0 && x && y && isMemoryEffectFree(x) &&
         OperationEquivalence::isEquivalentTo(
             x, y,
             [&](Value l, Value r) { return success(isSame(l, r, depth - 1)); },
             nullptr, OperationEquivalence::IgnoreLocations);
}

namespace {
/// A match of data / sqrt(mean(data^2) + epsilon).
struct Normalized {
  Value data;
  int64_t axis = 0;
  double epsilon = 0;
};
} // namespace

/// Matches sqrt(mean(data^2) + epsilon).
static bool matchDeviation(Value value, Normalized &result) {
  auto root = value.getDefiningOp<nn::SqrtOp>();
  Value variance;
  if (!root)
    return false;
  auto epsilon = matchScalar<nn::AddOp>(root.getX(), variance, /*either=*/true);
  if (!epsilon || *epsilon < 0)
    return false;
  Value squares = matchMean(variance, result.axis);
  result.epsilon = *epsilon;
  result.data = squares ? matchSquare(squares) : Value();
  return bool(result.data);
}

/// Matches data / deviation, or data * (1 / deviation).
static std::optional<Normalized> matchNormalized(Operation *op) {
  Normalized result;
  if (auto div = dyn_cast<nn::DivOp>(op)) {
    if (matchDeviation(div.getB(), result) && isSame(result.data, div.getA()))
      return result;
    return std::nullopt;
  }
  auto mul = dyn_cast<nn::MulOp>(op);
  if (!mul)
    return std::nullopt;
  for (int i : {0, 1}) {
    Value deviation, factor = mul->getOperand(1 - i);
    if (auto reciprocal = factor.getDefiningOp<nn::ReciprocalOp>())
      deviation = reciprocal.getX();
    else if (auto div = factor.getDefiningOp<nn::DivOp>();
             div && smallSplat(div.getA()) == 1.0)
      deviation = div.getB();
    if (deviation && matchDeviation(deviation, result) &&
        isSame(result.data, mul->getOperand(i)))
      return result;
  }
  return std::nullopt;
}

/// Returns `value` as a scale or bias for the dimensions of `type` from `axis`
/// on. Removes leading dimensions of size 1. Returns null if another leading
/// dimension remains.
static Value asParameter(PatternRewriter &rewriter, Value value,
                         RankedTensorType type, int64_t axis) {
  RankedTensorType own = typeOf(value);
  int64_t extra = own.getRank() - (type.getRank() - axis);
  if (own.getElementType() != type.getElementType())
    return {};
  if (extra <= 0)
    return value;
  for (int64_t size : own.getShape().take_front(extra))
    if (size != 1)
      return {};
  auto cut = RankedTensorType::get(own.getShape().drop_front(extra),
                                   own.getElementType());
  ElementsAttr attr = nn::getConstant(value);
  if (auto dense = dyn_cast_or_null<DenseElementsAttr>(attr))
    attr = dense.reshape(cut);
  else if (auto resource = dyn_cast_or_null<DenseResourceElementsAttr>(attr))
    attr = DenseResourceElementsAttr::get(cut, resource.getRawHandle());
  else
    return {};
  return arith::ConstantOp::create(rewriter, value.getLoc(), cut, attr);
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {

/// Matches (x - mean(x)) / sqrt(mean((x - mean(x))^2) + epsilon).
template <typename Root> struct RecognizeLayerNorm : OpRewritePattern<Root> {
  RecognizeLayerNorm(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern<Root>(context), count(count) {}

  LogicalResult matchAndRewrite(Root op,
                                PatternRewriter &rewriter) const override {
    auto normalized = matchNormalized(op);
    if (!normalized)
      return rewriter.notifyMatchFailure(op, "is not divided by a deviation");
    Value data = normalized->data;
    auto sub = data.getDefiningOp<nn::SubOp>();
    if (!sub || sub.getType() != op.getType())
      return rewriter.notifyMatchFailure(op, "is not of differences");
    int64_t axis;
    Value x = matchMean(sub.getB(), axis);
    if (!x || x != sub.getA() || axis != normalized->axis)
      return rewriter.notifyMatchFailure(
          op, "is not of differences to the same dimensions' mean");
    rewriter.replaceOpWithNewOp<nn::LayerNormOp>(
        op, op.getType(), x, /*scale=*/Value(), /*bias=*/Value(), axis,
        rewriter.getF32FloatAttr(float(normalized->epsilon)).getValue());
    ++count;
    return success();
  }
  Pass::Statistic &count;
};

/// Matches x / sqrt(mean(x^2) + epsilon) * scale.
struct RecognizeRMSNorm : OpRewritePattern<nn::MulOp> {
  RecognizeRMSNorm(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(nn::MulOp op,
                                PatternRewriter &rewriter) const override {
    for (int i : {0, 1}) {
      Operation *inner = op->getOperand(i).getDefiningOp();
      if (!inner || op->getOperand(i).getType() != op.getType())
        continue;
      auto normalized = matchNormalized(inner);
      if (!normalized || normalized->data.getType() != op.getType())
        continue;
      Value scale = asParameter(rewriter, op->getOperand(1 - i), op.getType(),
                                normalized->axis);
      if (!scale)
        continue;
      rewriter.replaceOpWithNewOp<nn::RMSNormOp>(
          op, op.getType(), normalized->data, scale, normalized->axis,
          rewriter.getF32FloatAttr(float(normalized->epsilon)).getValue());
      ++count;
      return success();
    }
    return rewriter.notifyMatchFailure(op, "is not a scaled RMS normalization");
  }
  Pass::Statistic &count;
};

/// Folds layer_norm(x) * scale, and layer_norm(x) + bias.
template <typename Root> struct TakeParameter : OpRewritePattern<Root> {
  using OpRewritePattern<Root>::OpRewritePattern;

  LogicalResult matchAndRewrite(Root op,
                                PatternRewriter &rewriter) const override {
    constexpr bool isScale = std::is_same_v<Root, nn::MulOp>;
    for (int i : {0, 1}) {
      auto norm = op->getOperand(i).template getDefiningOp<nn::LayerNormOp>();
      if (!norm || !norm->hasOneUse() || norm.getType() != op.getType() ||
          norm.getBias() || (isScale && norm.getScale()))
        continue;
      Value parameter = asParameter(rewriter, op->getOperand(1 - i),
                                    op.getType(), norm.getAxis());
      if (!parameter)
        continue;
      Location loc = rewriter.getFusedLoc({norm.getLoc(), op.getLoc()});
      rewriter.replaceOp(
          op, nn::LayerNormOp::create(
                  rewriter, loc, op.getType(), norm.getX(),
                  isScale ? parameter : norm.getScale(),
                  isScale ? Value() : parameter, norm.getAxis(),
                  norm.getEpsilon()));
      return success();
    }
    return rewriter.notifyMatchFailure(
        op, "is not of a normalization that lacks this parameter");
  }
};

struct RecognizeNormsPass
    : ingot::impl::RecognizeNormsBase<RecognizeNormsPass> {
  using RecognizeNormsBase::RecognizeNormsBase;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    // Recognize layer norms first, because a layer norm also looks like an RMS
    // norm of differences.
    RewritePatternSet layer(context), rms(context);
    layer.add<RecognizeLayerNorm<nn::DivOp>, RecognizeLayerNorm<nn::MulOp>>(
        context, numRecognized);
    layer.add<TakeParameter<nn::MulOp>, TakeParameter<nn::AddOp>>(context);
    rms.add<RecognizeRMSNorm>(context, numRecognized);
    if (failed(
            rewriteGreedily(getOperation(), std::move(layer), getArgument())) ||
        failed(rewriteGreedily(getOperation(), std::move(rms), getArgument())))
      signalPassFailure();
  }
};

} // namespace
