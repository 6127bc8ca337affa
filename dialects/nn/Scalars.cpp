//===- Scalars.cpp - scalar arithmetic of elements ------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Scalars.h"

#include "dialects/nn/NNDialect.h"
#include "dialects/nn/TinyFloats.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ingot;

Type nn::signless(Type type) {
  if (isCoded(type))
    return IntegerType::get(type.getContext(), 8);
  auto integer = dyn_cast<IntegerType>(type);
  return integer ? IntegerType::get(type.getContext(), integer.getWidth())
                 : type;
}

bool nn::isCoded(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  return (integer && integer.getWidth() > 1 && integer.getWidth() < 8) ||
         tinyFloatOf(type);
}

Value nn::load(OpBuilder &b, Location loc, Value stored, Type element,
               bool isWide) {
  // Folded constants are already plain values.
  if (!isCoded(element) || isa<FloatType>(stored.getType()))
    return stored;
  if (std::optional<TinyFloat> format = tinyFloatOf(element))
    return decodeTiny(b, loc, stored, *format,
                      isWide ? FloatType(b.getF64Type()) : b.getF32Type());
  // The unused bits of the byte may have any value.
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, loc,
                                     b.getIntegerAttr(b.getI8Type(), value));
  };
  int64_t sign = int64_t(1) << (element.getIntOrFloatBitWidth() - 1);
  Value own = arith::AndIOp::create(b, loc, stored, number(2 * sign - 1));
  if (element.isUnsignedInteger())
    return own;
  return arith::SubIOp::create(
      b, loc, arith::XOrIOp::create(b, loc, own, number(sign)), number(sign));
}

Value nn::store(OpBuilder &b, Location loc, Value number, Type element) {
  if (std::optional<TinyFloat> format = tinyFloatOf(element))
    return encodeTiny(b, loc, number, *format, /*saturates=*/false,
                      RoundMode::nearest);
  return number;
}

bool nn::isUnsigned(Type type) {
  type = getElementTypeOrSelf(type);
  return type.isUnsignedInteger() || type.isInteger(1);
}

bool nn::isByte(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  return integer && integer.getWidth() == 8;
}

bool nn::isInt8OrInt16(Type type) {
  return isByte(type) || type.isSignlessInteger(16);
}

Type nn::productElement(Type type) {
  return isInt8OrInt16(type) ? IntegerType::get(type.getContext(), 32) : type;
}

Value nn::scalar(OpBuilder &builder, Location loc, Type type, double value) {
  if (type.isIndex())
    return arith::ConstantIndexOp::create(builder, loc, int64_t(value));
  if (auto floatType = dyn_cast<FloatType>(type))
    return arith::ConstantOp::create(builder, loc,
                                     builder.getFloatAttr(floatType, value));
  return arith::ConstantOp::create(
      builder, loc, builder.getIntegerAttr(type, int64_t(value)));
}

Type nn::computeType(Type type) {
  auto floatType = dyn_cast<FloatType>(type);
  if (floatType && floatType.getWidth() < 32)
    return Float32Type::get(type.getContext());
  return type;
}

//===----------------------------------------------------------------------===//
// Scalar conversion
//===----------------------------------------------------------------------===//

/// Converts to i32. Values outside of i32 become the smallest i32, as with the
/// CPU's instructions, instead of poison.
static Value floatToI32(OpBuilder &b, Location loc, Value value) {
  if (cast<FloatType>(value.getType()).getWidth() < 32)
    value = arith::ExtFOp::create(b, loc, b.getF32Type(), value);
  constexpr double kLimit = 2147483648.0;
  Value least = nn::scalar(b, loc, value.getType(), -kLimit);
  Value limit = nn::scalar(b, loc, value.getType(), kLimit);
  Value isHeld = arith::AndIOp::create(
      b, loc,
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGE, value, least),
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, value, limit));
  Type i32 = b.getI32Type();
  return arith::SelectOp::create(
      b, loc, isHeld, arith::FPToSIOp::create(b, loc, i32, value),
      nn::scalar(b, loc, i32, -kLimit));
}

// Wraps out-of-range values as C does on this target, instead of making poison.
// Converts to narrow integers through i32, because i32 has vector instructions.
static Value floatToInt(OpBuilder &b, Location loc, Value value, Type to,
                        bool toUnsigned) {
  unsigned width = cast<IntegerType>(to).getWidth();
  if (width >= 64)
    return toUnsigned ? Value(arith::FPToUIOp::create(b, loc, to, value))
                      : Value(arith::FPToSIOp::create(b, loc, to, value));
  if (width == 32 && toUnsigned)
    return arith::TruncIOp::create(
        b, loc, to, arith::FPToSIOp::create(b, loc, b.getI64Type(), value));
  Value narrow = floatToI32(b, loc, value);
  return width == 32 ? narrow
                     : Value(arith::TruncIOp::create(b, loc, to, narrow));
}

Value nn::convertScalar(OpBuilder &b, Location loc, Value value, Type to,
                           bool fromUnsigned, bool toUnsigned) {
  Type from = value.getType();
  if (from == to)
    return value;
  if (to.isInteger(1)) {
    Value zero = scalar(b, loc, from, 0);
    if (isa<FloatType>(from))
      return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE, value,
                                   zero);
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, value, zero);
  }
  if (from.isIndex() || to.isIndex())
    return arith::IndexCastOp::create(b, loc, to, value);
  auto fromFloat = dyn_cast<FloatType>(from), toFloat = dyn_cast<FloatType>(to);
  if (fromFloat && toFloat) {
    if (fromFloat.getWidth() < toFloat.getWidth())
      return arith::ExtFOp::create(b, loc, to, value);
    if (fromFloat.getWidth() > toFloat.getWidth())
      return arith::TruncFOp::create(b, loc, to, value);
    Value wide = arith::ExtFOp::create(b, loc, b.getF32Type(), value);
    return arith::TruncFOp::create(b, loc, to, wide);
  }
  if (fromFloat) {
    if (fromFloat.getWidth() < 32)
      value = arith::ExtFOp::create(b, loc, b.getF32Type(), value);
    return floatToInt(b, loc, value, to, toUnsigned);
  }
  if (toFloat) {
    Type via = toFloat.getWidth() < 32 ? Type(b.getF32Type()) : to;
    Value wide =
        fromUnsigned ? Value(arith::UIToFPOp::create(b, loc, via, value))
                     : Value(arith::SIToFPOp::create(b, loc, via, value));
    return via == to ? wide : Value(arith::TruncFOp::create(b, loc, to, wide));
  }
  unsigned fromWidth = from.getIntOrFloatBitWidth();
  unsigned toWidth = to.getIntOrFloatBitWidth();
  if (fromWidth > toWidth)
    return arith::TruncIOp::create(b, loc, to, value);
  if (fromWidth == toWidth)
    return value;
  return fromUnsigned ? Value(arith::ExtUIOp::create(b, loc, to, value))
                      : Value(arith::ExtSIOp::create(b, loc, to, value));
}
