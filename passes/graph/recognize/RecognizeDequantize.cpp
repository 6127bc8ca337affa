//===- RecognizeDequantize.cpp - nn-recognize-dequantize ------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"
#include "dialects/nn/NNDialect.h"
#include "passes/graph/Passes.h"
#include "passes/support/Rewrite.h"
#include "passes/support/Shapes.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

namespace ingot {
#define GEN_PASS_DEF_RECOGNIZEDEQUANTIZE
#include "passes/graph/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using support::typeOf;

namespace {

/// Constant numbers that are broadcast to the weights.
struct Parameters {
  std::vector<double> values;
  /// The dimension of the weights that has a value for each index. Not set if
  /// there is one value for all weights.
  std::optional<int64_t> axis;
};

} // namespace

/// Returns the values of a constant. Looks through reshapes, and through casts
/// from integers, which do not change values.
static std::optional<std::vector<double>> findValues(Value value) {
  for (;;) {
    if (auto reshape = value.getDefiningOp<nn::ReshapeOp>())
      value = reshape.getX();
    else if (auto cast = value.getDefiningOp<nn::CastOp>();
             cast && typeOf(cast.getX()).getElementType().isInteger() &&
             typeOf(cast.getX()).getElementTypeBitWidth() <= 8)
      value = cast.getX();
    else
      break;
  }
  if (!nn::getConstant(value))
    return std::nullopt;
  return nn::getConstantDoubles(value);
}

/// Returns the numbers that `value` adds or multiplies, if `weights` have one
/// for all elements or one for each index of a dimension.
static std::optional<Parameters> findParameters(Value value,
                                                RankedTensorType weights) {
  const RankedTensorType type = typeOf(value);
  if (!type.hasStaticShape() || type.getRank() > weights.getRank())
    return std::nullopt;
  Parameters result;
  const int64_t offset = weights.getRank() - type.getRank();
  for (auto [d, size] : llvm::enumerate(type.getShape())) {
    if (size == 1)
      continue;
    if (result.axis || size != weights.getDimSize(offset + int64_t(d)))
      return std::nullopt;
    result.axis = offset + int64_t(d);
  }
  std::optional<std::vector<double>> values = findValues(value);
  if (!values || values->empty())
    return std::nullopt;
  result.values = std::move(*values);
  return result;
}

/// Returns the constant of small integers that `value` converts to f32, or
/// null.
static Value findIntegers(Value value) {
  auto cast = value.getDefiningOp<nn::CastOp>();
  if (!cast || !nn::getConstant(cast.getX()))
    return {};
  auto element = dyn_cast<IntegerType>(typeOf(cast.getX()).getElementType());
  // An i1 is a truth value.
  return element && element.getWidth() > 1 && element.getWidth() <= 8
             ? cast.getX()
             : Value();
}

/// Returns true if all values are integers of the type.
static bool areOfType(ArrayRef<double> values, IntegerType type) {
  const double count = std::ldexp(1.0, int(type.getWidth()));
  const double low = type.isUnsigned() ? 0 : -count / 2, high = low + count - 1;
  return llvm::all_of(values, [&](double value) {
    return value == std::floor(value) && value >= low && value <= high;
  });
}

namespace {

/// Replaces `(cast(weights) - zero_point) * scale` by an nn.dequantize.
struct RecognizeProductOfScale : OpRewritePattern<nn::MulOp> {
  RecognizeProductOfScale(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(nn::MulOp op,
                                PatternRewriter &rewriter) const override {
    for (auto [numbers, scale] :
         {std::pair(op.getA(), op.getB()), std::pair(op.getB(), op.getA())}) {
      Value weights = findIntegers(numbers), zeroPoint;
      auto difference = numbers.getDefiningOp<nn::SubOp>();
      if (!weights && difference) {
        weights = findIntegers(difference.getA());
        zeroPoint = difference.getB();
      }
      if (weights && typeOf(weights).getShape() == op.getType().getShape())
        return rewrite(op, weights, scale, zeroPoint, rewriter);
    }
    return rewriter.notifyMatchFailure(op,
                                       "has no factor of constant integers");
  }

  LogicalResult rewrite(nn::MulOp op, Value weights, Value scale,
                        Value zeroPoint, PatternRewriter &rewriter) const {
    const RankedTensorType type = typeOf(weights);
    if (!op.getType().getElementType().isF32())
      return rewriter.notifyMatchFailure(op, "is not of f32");
    std::optional<Parameters> scales = findParameters(scale, type);
    if (!scales)
      return rewriter.notifyMatchFailure(
          op, "has no constant scale for all weights or for each index of one "
              "dimension");
    std::optional<Parameters> zeros;
    if (zeroPoint) {
      zeros = findParameters(zeroPoint, type);
      if (!zeros ||
          !areOfType(zeros->values, cast<IntegerType>(type.getElementType())))
        return rewriter.notifyMatchFailure(
            op, "subtracts values that are not integers of the weights' type");
      if (zeros->axis && scales->axis && *zeros->axis != *scales->axis)
        return rewriter.notifyMatchFailure(
            op, "has scales and zero points along different dimensions");
    }
    // Both parameters have the same shape.
    std::optional<int64_t> axis = scales->axis;
    if (zeros && !axis)
      axis = zeros->axis;
    auto makeParameter = [&](const Parameters &given, Type element) -> Value {
      if (!axis)
        return nn::makeScalar(rewriter, op.getLoc(), element,
                              given.values.front());
      const int64_t size = type.getDimSize(*axis);
      std::vector<double> values = given.values;
      if (!given.axis)
        values.assign(size_t(size), given.values.front());
      return nn::makeConstant(rewriter, op.getLoc(),
                              RankedTensorType::get(size, element), values);
    };
    Value scaleValue = makeParameter(*scales, op.getType().getElementType());
    Value zeroValue =
        zeros ? makeParameter(*zeros, type.getElementType()) : Value();
    rewriter.replaceOpWithNewOp<nn::DequantizeOp>(
        op, op.getType(), weights, scaleValue, zeroValue, axis.value_or(0));
    ++count;
    return success();
  }

  Pass::Statistic &count;
};

struct RecognizeDequantizePass
    : ingot::impl::RecognizeDequantizeBase<RecognizeDequantizePass> {
  using RecognizeDequantizeBase::RecognizeDequantizeBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<RecognizeProductOfScale>(&getContext(), numRecognized);
    rewriteInOneWalk(getOperation(), std::move(patterns));
  }
};

} // namespace
