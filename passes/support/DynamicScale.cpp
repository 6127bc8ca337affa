//===- DynamicScale.cpp - quantization at run time ------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/support/DynamicScale.h"

#include "dialects/nn/Constants.h"
#include "dialects/nn/NNDialect.h"
#include "passes/support/Intervals.h"
#include "passes/support/Shapes.h"

#include <algorithm>
#include <limits>

using namespace mlir;
using namespace ingot;
using namespace ingot::support;
using support::typeOf;

/// Returns `value` bounded by the largest finite number of its type. The scale
/// of the result is finite.
static Value boundFinite(OpBuilder &builder, Location loc, Value value) {
  auto element = cast<FloatType>(typeOf(value).getElementType());
  const double most =
      APFloat::getLargest(element.getFloatSemantics()).convertToDouble();
  return nn::ClampOp::create(builder, loc, value.getType(), value,
                             builder.getF64FloatAttr(-most),
                             builder.getF64FloatAttr(most));
}

support::DynamicBytes support::quantizeDynamically(OpBuilder &builder,
                                                   Location loc, Value x,
                                                   RangeOf range) {
  constexpr double kLargest = 255;
  RankedTensorType type = typeOf(x);
  Type real = type.getElementType(),
       byte = builder.getIntegerType(8, /*isSigned=*/false);
  const bool ofRows = range == RangeOf::row;
  auto axes = llvm::to_vector(
      llvm::seq<int64_t>(ofRows ? type.getRank() - 1 : 0, type.getRank()));
  SmallVector<int64_t> shape;
  if (ofRows) {
    shape.assign(type.getShape().begin(), type.getShape().end());
    shape.back() = 1;
  }
  auto rangeType = RankedTensorType::get(shape, real);
  auto scalar = [&](double value) {
    return nn::makeScalar(builder, loc, real, value);
  };
  auto extreme = [&](nn::ReduceKind kind) -> Value {
    return nn::ReduceOp::create(builder, loc, rangeType, x, kind, axes,
                                /*keep_dims=*/ofRows);
  };
  auto half = [&](Value value) -> Value {
    return nn::MulOp::create(builder, loc, rangeType, value, scalar(0.5));
  };
  auto minus = [&](Value a, Value b) -> Value {
    return nn::SubOp::create(builder, loc, rangeType, a, b);
  };
  Value zero = scalar(0);
  // If a tensor is never negative, e.g. after a relu, use 0 as its minimum
  // without computing it.
  bool isNegative = !(IntervalAnalysis().intervalOf(x).least >= 0);
  Value high = nn::MaxOp::create(builder, loc, rangeType,
                                 extreme(nn::ReduceKind::max), zero);
  Value most = boundFinite(builder, loc, high);
  // Halves, because the width of the range may exceed the largest number. The
  // quotient has the same bits.
  Value width = half(most);
  // Infinite or NaN if an element is; otherwise 0.
  Value excess = minus(high, most);
  Value least = zero;
  if (isNegative) {
    Value low = nn::MinOp::create(builder, loc, rangeType,
                                  extreme(nn::ReduceKind::min), zero);
    least = boundFinite(builder, loc, low);
    width = minus(width, half(least));
    // Infinities of both signs add up to NaN.
    excess = nn::AbsOp::create(
        builder, loc, rangeType,
        nn::AddOp::create(builder, loc, rangeType, excess, minus(low, least)));
  }
  Value quotient =
      nn::DivOp::create(builder, loc, rangeType, width, scalar(kLargest / 2));
  Value isNothing = nn::EqualOp::create(
      builder, loc, rangeType.clone(builder.getI1Type()), quotient, zero);
  Value step = nn::SelectOp::create(builder, loc, rangeType, isNothing,
                                    scalar(1), quotient);
  Value zeroPoint;
  if (ofRows && !isNegative) {
    // The epilogue then subtracts nothing from the sums of a row.
    zeroPoint = nn::makeScalar(builder, loc, byte, 0);
  } else {
    Value lowest =
        nn::DivOp::create(builder, loc, rangeType, minus(zero, least), step);
    Value near = nn::RoundOp::create(builder, loc, rangeType, lowest);
    Value bound = nn::ClampOp::create(builder, loc, rangeType, near,
                                      builder.getF64FloatAttr(0),
                                      builder.getF64FloatAttr(kLargest));
    zeroPoint = nn::CastOp::create(builder, loc, rangeType.clone(byte), bound,
                                   /*in_range=*/true);
  }
  Value bytes = nn::QuantizeOp::create(builder, loc, type.clone(byte), x, step,
                                       zeroPoint, /*axis=*/0);
  Value scale = nn::AddOp::create(builder, loc, rangeType, step, excess);
  return {bytes, scale, zeroPoint};
}

Value support::roundDynamically(OpBuilder &builder, Location loc, Value x,
                                RangeOf range) {
  DynamicBytes made = quantizeDynamically(builder, loc, x, range);
  return nn::DequantizeOp::create(builder, loc, x.getType(), made.bytes,
                                  made.scale, made.zeroPoint, /*axis=*/0);
}

support::SplitScales support::splitScales(ArrayRef<double> scales) {
  // Sums are integers below 2^31, and finite scales of data are below 2^122.
  constexpr double least = 0x1p-64, most = 0x1p64;
  SplitScales split;
  for (double scale : scales) {
    split.first.push_back(std::clamp(scale, least, most));
    split.second.push_back(scale / split.first.back());
  }
  if (llvm::all_of(split.second, [](double factor) { return factor == 1; }))
    split.second.clear();
  return split;
}

Value support::takeOffZeroPoint(OpBuilder &builder, Location loc, Value sums,
                                Value zeroPoint, Value weightSums) {
  Type words = builder.getI32Type();
  Value factor = nn::CastOp::create(builder, loc,
                                    typeOf(zeroPoint).clone(words), zeroPoint);
  // Zero points of rows and sums of columns broadcast against each other.
  RankedTensorType type =
      typeOf(zeroPoint).getRank() == 0 ? typeOf(weightSums) : typeOf(sums);
  Value less = nn::MulOp::create(builder, loc, type, factor, weightSums);
  return nn::SubOp::create(builder, loc, typeOf(sums), sums, less);
}

std::pair<Value, SmallVector<int64_t>>
support::padWithZeroPoint(OpBuilder &builder, Location loc, Value x,
                          Value zeroPoint, ArrayRef<int64_t> pads,
                          bool channelsLast) {
  RankedTensorType type = typeOf(x);
  int64_t spatial = pads.size() / 2, first = channelsLast ? 1 : 2;
  SmallVector<int64_t> low(type.getRank(), 0), high(type.getRank(), 0),
      shape(type.getShape()), left(pads);
  bool isPadded = false;
  for (int64_t d = 0; d < spatial; ++d) {
    int64_t &before = left[d], &behind = left[spatial + d];
    low[first + d] = std::max<int64_t>(before, 0);
    high[first + d] = std::max<int64_t>(behind, 0);
    before -= low[first + d];
    behind -= high[first + d];
    int64_t more = low[first + d] + high[first + d];
    isPadded |= more != 0;
    if (!ShapedType::isDynamic(shape[first + d]))
      shape[first + d] += more;
  }
  if (isPadded)
    x = nn::PadOp::create(builder, loc, type.clone(shape), x, zeroPoint, low,
                          high, nn::PadMode::constant);
  return {x, left};
}
