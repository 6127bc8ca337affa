//===- QuantizationParameters.cpp - scales and zero points ----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/quantize/QuantizationParameters.h"

#include "dialects/nn/Constants.h"
#include "dialects/nn/Scalars.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::quantize;

template <typename Op>
static std::optional<Scale> scaleOf(Op op) {
  std::optional<double> scale = nn::getSplat(op.getScale());
  if (!scale || !typeOf(op.getX()).getElementType().isIntOrFloat() ||
      !typeOf(op.getY()).getElementType().isIntOrFloat())
    return std::nullopt;
  if (!op.getZeroPoint())
    return Scale{*scale, 0};
  std::optional<double> zero = nn::getSplat(op.getZeroPoint());
  if (!zero)
    return std::nullopt;
  return Scale{*scale, int64_t(*zero)};
}

std::optional<Scale> quantize::getScale(nn::QuantizeOp op) {
  return typeOf(op.getY()).getElementType().isInteger() ? scaleOf(op)
                                                        : std::nullopt;
}

std::optional<Scale> quantize::getScale(nn::DequantizeOp op) {
  return typeOf(op.getX()).getElementType().isInteger() ? scaleOf(op)
                                                        : std::nullopt;
}

nn::DequantizeOp quantize::getDequantize(Value value) {
  auto op = value.getDefiningOp<nn::DequantizeOp>();
  return op && getScale(op) ? op : nn::DequantizeOp();
}

Value quantize::makeQuantize(OpBuilder &builder, Location loc, Value x,
                             Type element, Scale scale) {
  RankedTensorType type = typeOf(x);
  Value factor =
      nn::makeScalar(builder, loc, type.getElementType(), scale.scale);
  Value zero = nn::makeScalar(builder, loc, element, double(scale.zeroPoint));
  return nn::QuantizeOp::create(builder, loc, type.clone(element), x, factor,
                                zero, /*axis=*/0);
}

Value quantize::makeDequantize(OpBuilder &builder, Location loc, Value x,
                               Type element, Scale scale) {
  RankedTensorType type = typeOf(x);
  Value factor = nn::makeScalar(builder, loc, element, scale.scale);
  Value zero = nn::makeScalar(builder, loc, type.getElementType(),
                              double(scale.zeroPoint));
  return nn::DequantizeOp::create(builder, loc, type.clone(element), x, factor,
                                  zero, /*axis=*/0);
}

std::pair<int64_t, int64_t> quantize::rangeOf(Type element) {
  unsigned width = element.getIntOrFloatBitWidth();
  assert(width < 64 && "quantized numbers are short");
  if (element.isUnsignedInteger())
    return {0, (int64_t(1) << width) - 1};
  return {-(int64_t(1) << (width - 1)), (int64_t(1) << (width - 1)) - 1};
}

Value quantize::toUnsigned(OpBuilder &builder, Location loc, Value bytes) {
  Type element = builder.getIntegerType(8, /*isSigned=*/false);
  RankedTensorType type = typeOf(bytes).clone(element);
  Value bits = nn::CastOp::create(builder, loc, type, bytes);
  return nn::XorOp::create(builder, loc, type, bits,
                           nn::makeScalar(builder, loc, element, kSignOffset));
}

Value quantize::toSigned(OpBuilder &builder, Location loc, Value bytes) {
  RankedTensorType type = typeOf(bytes);
  Value bits = nn::XorOp::create(
      builder, loc, type, bytes,
      nn::makeScalar(builder, loc, type.getElementType(), kSignOffset));
  return nn::CastOp::create(builder, loc, type.clone(builder.getI8Type()),
                            bits);
}
