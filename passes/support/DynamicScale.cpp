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

using namespace mlir;
using namespace ingot;
using namespace ingot::support;
using support::typeOf;

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
  Value zero = scalar(0);
  // If a tensor is never negative, e.g. after a relu, use 0 as its minimum
  // without computing it.
  bool isNegative = !(IntervalAnalysis().intervalOf(x).least >= 0);
  Value low = isNegative ? nn::MinOp::create(builder, loc, rangeType,
                                             extreme(nn::ReduceKind::min), zero)
                         : zero;
  Value high = nn::MaxOp::create(builder, loc, rangeType,
                                 extreme(nn::ReduceKind::max), zero);
  Value width = nn::SubOp::create(builder, loc, rangeType, high, low);
  Value isNothing = nn::EqualOp::create(
      builder, loc, rangeType.clone(builder.getI1Type()), width, zero);
  Value step =
      nn::DivOp::create(builder, loc, rangeType, width, scalar(kLargest));
  Value scale =
      nn::SelectOp::create(builder, loc, rangeType, isNothing, scalar(1), step);
  Value zeroPoint;
  if (ofRows && !isNegative) {
    // The epilogue then subtracts nothing from the sums of a row.
    zeroPoint = nn::makeScalar(builder, loc, byte, 0);
  } else {
    Value lowest = nn::DivOp::create(
        builder, loc, rangeType,
        nn::SubOp::create(builder, loc, rangeType, zero, low), scale);
    Value near = nn::RoundOp::create(builder, loc, rangeType, lowest);
    Value bound = nn::ClampOp::create(builder, loc, rangeType, near,
                                      builder.getF64FloatAttr(0),
                                      builder.getF64FloatAttr(kLargest));
    zeroPoint = nn::CastOp::create(builder, loc, rangeType.clone(byte), bound,
                                   /*in_range=*/true);
  }
  Value bytes = nn::QuantizeOp::create(builder, loc, type.clone(byte), x, scale,
                                       zeroPoint, /*axis=*/0);
  return {bytes, scale, zeroPoint};
}

Value support::roundDynamically(OpBuilder &builder, Location loc, Value x,
                                RangeOf range) {
  DynamicBytes made = quantizeDynamically(builder, loc, x, range);
  return nn::DequantizeOp::create(builder, loc, x.getType(), made.bytes,
                                  made.scale, made.zeroPoint, /*axis=*/0);
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
