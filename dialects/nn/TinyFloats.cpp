//===- TinyFloats.cpp - floats of eight bits or less ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Converts floats of at most 8 bits with branch-free bit arithmetic, so that
// loops vectorize. The arithmetic avoids denormal f32 values, because a run
// treats them as zero. Many of the smallest values of these formats are
// denormal in f32.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/TinyFloats.h"

#include "dialects/nn/NNDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::nn;

std::optional<TinyFloat> nn::tinyFloatOf(Type type) {
#define INGOT_TINY_FLOAT(NAME, FORMAT, EXPONENT, FRACTION, BIAS, ENDS)         \
  if (isa<FORMAT##Type>(type))                                                 \
    return TinyFloat{EXPONENT, FRACTION, BIAS, TinyFloat::ENDS};
#include "runtime/include/ingot/abi/element_types.inc"
  return std::nullopt;
}

namespace {

/// Builds arithmetic on the bits of a wide float.
struct Bits {
  Bits(OpBuilder &b, Location loc, FloatType type)
      : b(b), loc(loc), type(type), word(b.getIntegerType(type.getWidth())),
        width(type.getWidth()),
        fractionBits(APFloat::semanticsPrecision(type.getFloatSemantics()) - 1),
        bias(width == 64 ? 1023 : 127) {}

  Value c(uint64_t bits) {
    return arith::ConstantOp::create(b, loc,
                                     b.getIntegerAttr(word, int64_t(bits)));
  }
  template <typename Op> Value make(Value x, Value y) {
    return Op::create(b, loc, x, y);
  }
  Value add(Value x, uint64_t y) { return make<arith::AddIOp>(x, c(y)); }
  Value mask(Value x, uint64_t y) { return make<arith::AndIOp>(x, c(y)); }
  Value bitOr(Value x, Value y) { return make<arith::OrIOp>(x, y); }
  Value left(Value x, int by) {
    return by ? make<arith::ShLIOp>(x, c(by)) : x;
  }
  Value right(Value x, int by) {
    return by ? make<arith::ShRUIOp>(x, c(by)) : x;
  }
  Value isAbove(Value x, uint64_t y) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ugt, x, c(y));
  }
  Value isBelow(Value x, uint64_t y) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, x, c(y));
  }
  Value isEqual(Value x, uint64_t y) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, c(y));
  }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, loc, condition, x, y);
  }
  Value select(Value condition, uint64_t x, Value y) {
    return select(condition, c(x), y);
  }
  Value asFloat(Value x) { return arith::BitcastOp::create(b, loc, type, x); }
  Value asBits(Value x) { return arith::BitcastOp::create(b, loc, word, x); }

  /// Returns 2^exponent as bits.
  uint64_t power(int exponent) const {
    return uint64_t(exponent + bias) << fractionBits;
  }
  uint64_t infinity() const { return power(bias + 1); }
  uint64_t quietNaN() const {
    return infinity() | uint64_t(1) << (fractionBits - 1);
  }

  OpBuilder &b;
  Location loc;
  FloatType type;
  Type word;
  int width, fractionBits, bias;
};

} // namespace

static uint64_t lowBits(int count) {
  return llvm::maskTrailingOnes<uint64_t>(count);
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

/// Decodes a power of two: a format with only an exponent.
static Value decodeScale(Bits &w, Value code, TinyFloat format) {
  Value bits = w.left(w.add(code, uint64_t(w.bias - format.bias)),
                      w.fractionBits);
  // If the format has as many exponents as the wide type, its smallest value is
  // denormal there.
  if (w.bias == format.bias)
    bits = w.select(w.isEqual(code, 0),
                    uint64_t(1) << (w.fractionBits - 1), bits);
  return w.select(w.isEqual(code, lowBits(8)), w.quietNaN(), bits);
}

Value nn::decodeTiny(OpBuilder &b, Location loc, Value code, TinyFloat format,
                     FloatType type) {
  Bits w(b, loc, type);
  code = arith::ExtUIOp::create(b, loc, w.word, code);
  if (format.ends == TinyFloat::SCALE)
    return w.asFloat(decodeScale(w, code, format));
  int magnitudeBits = format.magnitudeBits();
  Value magnitude = w.mask(code, lowBits(magnitudeBits));
  Value sign = w.left(w.mask(w.right(code, magnitudeBits), 1), w.width - 1);
  Value placed = w.left(magnitude, w.fractionBits - format.fractionBits);
  Value bits = w.add(placed, w.power(-format.bias));
  // A subnormal value has only a fraction. Adds a leading one and subtracts it
  // again, so that no operand is denormal in the wide type.
  uint64_t least = w.power(1 - format.bias);
  Value fraction = arith::SubFOp::create(b, loc,
                                         w.asFloat(w.bitOr(placed, w.c(least))),
                                         w.asFloat(w.c(least)));
  bits = w.select(w.isBelow(magnitude, uint64_t(1) << format.fractionBits),
                  w.asBits(fraction), bits);
  if (format.ends == TinyFloat::IEEE)
    bits = w.select(
        w.isAbove(magnitude, (lowBits(format.exponentBits)
                              << format.fractionBits) - 1),
        w.add(placed, w.infinity() - (lowBits(format.exponentBits)
                                      << w.fractionBits)),
        bits);
  if (format.ends == TinyFloat::FN)
    bits = w.select(w.isEqual(magnitude, lowBits(magnitudeBits)), w.quietNaN(),
                    bits);
  bits = w.bitOr(bits, sign);
  if (format.ends == TinyFloat::FNUZ)
    bits = w.select(w.isEqual(code, uint64_t(1) << magnitudeBits),
                    w.quietNaN(), bits);
  return w.asFloat(bits);
}

//===----------------------------------------------------------------------===//
// Encoding
//===----------------------------------------------------------------------===//

/// Encodes the rounded exponent of a value's magnitude.
static Value encodeScale(OpBuilder &b, Location loc, Value x, bool saturates,
                         RoundMode mode) {
  // Rounds to f32 first, as ONNX's reference does.
  if (x.getType().isF64())
    x = arith::TruncFOp::create(b, loc, b.getF32Type(), x);
  Bits w(b, loc, b.getF32Type());
  Value magnitude = w.mask(w.asBits(x), lowBits(31));
  // The least fraction that rounds up to the next power of two.
  uint64_t step = uint64_t(1) << w.fractionBits;
  uint64_t up = mode == RoundMode::up        ? step - 1
                : mode == RoundMode::nearest ? step / 2
                                             : 0;
  Value code = w.right(w.add(magnitude, up), w.fractionBits);
  // Between the two smallest powers, 2^-127 and 2^-126, a value is denormal.
  Value least = w.right(w.add(magnitude, up / 2), w.fractionBits);
  code = w.select(w.isBelow(magnitude, step), least, code);
  if (saturates)
    code = w.select(w.isAbove(code, 254), uint64_t(254), code);
  else
    code = w.select(w.isBelow(magnitude, step / 2), uint64_t(255), code);
  code = w.select(w.isAbove(magnitude, w.infinity()), uint64_t(255), code);
  return arith::TruncIOp::create(b, loc, b.getI8Type(), code);
}

Value nn::encodeTiny(OpBuilder &b, Location loc, Value x, TinyFloat format,
                     bool saturates, RoundMode mode) {
  if (format.ends == TinyFloat::SCALE)
    return encodeScale(b, loc, x, saturates, mode);
  Bits w(b, loc, cast<FloatType>(x.getType()));
  int magnitudeBits = format.magnitudeBits();
  Value bits = w.asBits(x);
  Value magnitude = w.mask(bits, lowBits(w.width - 1));
  Value sign = w.left(w.right(bits, w.width - 1), magnitudeBits);

  // Rounds a normal value: adds half of the last place, or a little less if the
  // last bit is even. Then cuts off the lower bits.
  int cut = w.fractionBits - format.fractionBits;
  Value odd = w.mask(w.right(magnitude, cut), 1);
  Value rounded = w.make<arith::AddIOp>(
      w.add(magnitude, lowBits(cut - 1)), odd);
  Value code = w.add(w.right(rounded, cut),
                     -(uint64_t(w.bias - format.bias) << format.fractionBits));
  // Rounds a subnormal value. Adds a number whose last place is the smallest
  // value of the format.
  uint64_t ruler = w.power(1 - format.bias - format.fractionBits +
                           w.fractionBits);
  Value sum = arith::AddFOp::create(b, loc, w.asFloat(magnitude),
                                    w.asFloat(w.c(ruler)));
  code = w.select(w.isBelow(magnitude, w.power(1 - format.bias)),
                  w.add(w.asBits(sum), -ruler), code);

  uint64_t allOnes = lowBits(magnitudeBits);
  uint64_t infinity = lowBits(format.exponentBits) << format.fractionBits;
  uint64_t largest = allOnes, beyond = allOnes, nan = allOnes;
  switch (format.ends) {
  case TinyFloat::IEEE:
    largest = infinity - 1;
    beyond = infinity;
    nan = infinity | uint64_t(1) << (format.fractionBits - 1);
    break;
  case TinyFloat::FN:
    largest = allOnes - 1;
    break;
  case TinyFloat::FNUZ:
    beyond = nan = allOnes + 1;
    break;
  case TinyFloat::FINITE:
    nan = 0;
    break;
  case TinyFloat::SCALE:
    break;
  }
  Value isNaN = w.isAbove(magnitude, w.infinity());
  code = w.select(w.isAbove(code, largest), saturates ? largest : beyond, code);
  if (format.ends == TinyFloat::FNUZ)
    sign = w.select(w.isEqual(code, 0), uint64_t(0), sign);
  code = w.select(isNaN, nan, code);
  code = w.bitOr(code, sign);
  if (format.ends == TinyFloat::FNUZ)
    code = w.select(isNaN, nan, code);
  return arith::TruncIOp::create(b, loc, b.getI8Type(), code);
}
