//===- Trigonometry.cpp - trigonometric functions -------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Approximates sin, cos, tan, atan, asin and acos of f32 without branches or
// tables in memory, within 3 ulp. The polynomials are those of Cephes (S. L.
// Moshier, "Methods and programs for mathematical functions", 1989).
//
// Angles of all magnitudes are reduced exactly (M. Payne and R. Hanek, "Radian
// reduction for trigonometric functions", 1983). The significand of the angle
// is multiplied, as an integer, by 96 bits of 2/pi. The code picks the 96 bits
// that determine the quadrant and the angle within it.
//
//===----------------------------------------------------------------------===//
#include "passes/math/Trigonometry.h"

#include <limits>

using namespace mlir;
using namespace ingot;
using elementary::FloatBuilder;

using Predicate = arith::CmpFPredicate;

namespace {

/// An angle reduced to a quadrant: |angle| = quadrant pi/2 + rest, |rest| <=
/// pi/4.
struct Reduced {
  Value quadrant, rest;
};

/// Integer arithmetic on vectors of the same shape as the floats.
struct IntegerBuilder {
  const FloatBuilder &f;

  Value n(int64_t value, unsigned width = 32) const {
    return f.integer(value, width);
  }
  Value add(Value x, Value y) const {
    return arith::AddIOp::create(f.b, f.loc, x, y);
  }
  Value sub(Value x, Value y) const {
    return arith::SubIOp::create(f.b, f.loc, x, y);
  }
  Value mul(Value x, Value y) const {
    return arith::MulIOp::create(f.b, f.loc, x, y);
  }
  Value either(Value x, Value y) const {
    return arith::OrIOp::create(f.b, f.loc, x, y);
  }
  Value both(Value x, Value y) const {
    return arith::AndIOp::create(f.b, f.loc, x, y);
  }
  Value differ(Value x, Value y) const {
    return arith::XOrIOp::create(f.b, f.loc, x, y);
  }
  Value left(Value x, Value by) const {
    return arith::ShLIOp::create(f.b, f.loc, x, by);
  }
  Value right(Value x, Value by) const {
    return arith::ShRUIOp::create(f.b, f.loc, x, by);
  }
  Value wide(Value x) const {
    return arith::ExtUIOp::create(f.b, f.loc, f.integers(64), x);
  }
  Value narrow(Value x) const {
    return arith::TruncIOp::create(f.b, f.loc, f.integers(32), x);
  }
  Value choose(arith::CmpIPredicate predicate, Value x, Value y, Value then,
               Value otherwise) const {
    Value test = arith::CmpIOp::create(f.b, f.loc, predicate, x, y);
    return arith::SelectOp::create(f.b, f.loc, test, then, otherwise);
  }
};

} // namespace

/// Bits of 2/pi after the binary point, behind 32 zeros.
static constexpr uint32_t kTwoOverPi[] = {0,          0xA2F9836E, 0x4E441529,
                                          0xFC2757D1, 0xF534DDC0, 0xDB629599,
                                          0x3C439041, 0xFE5163AB};

/// Returns three int32 of 2/pi from index `first` (0 to 4) on, shifted left by
/// `shift` bits. A fourth int32 fills the low bits of the third.
static SmallVector<Value> windowOf(const IntegerBuilder &i, Value first,
                                   Value shift) {
  constexpr int64_t kFirsts = 5, kWords = 4;
  SmallVector<Value> words;
  for (int64_t k = 0; k < kWords; ++k) {
    Value word = i.n(int32_t(kTwoOverPi[k]));
    for (int64_t q = 1; q < kFirsts; ++q)
      word = i.choose(arith::CmpIPredicate::eq, first, i.n(q),
                      i.n(int32_t(kTwoOverPi[q + k])), word);
    words.push_back(word);
  }
  SmallVector<Value> window;
  Value rest = i.sub(i.n(31), shift);
  for (int64_t k = 0; k + 1 < kWords; ++k)
    window.push_back(i.either(i.left(words[k], shift),
                              i.right(i.right(words[k + 1], i.n(1)), rest)));
  return window;
}

static Reduced reduce(const FloatBuilder &f, Value x) {
  IntegerBuilder i{f};
  Value bits = i.both(f.bitsOf(x), i.n(0x7fffffff));
  // x| = fraction 2^(exponent - 150). Angles below 1/2 need no reduction.
  Value exponent =
      arith::MaxUIOp::create(f.b, f.loc, i.right(bits, i.n(23)), i.n(126));
  Value fraction = i.either(i.both(bits, i.n(0x7fffff)), i.n(0x800000));
  // Picks 96 bits such that the product has two bits before the binary point.
  Value start = i.sub(exponent, i.n(120));
  SmallVector<Value> window =
      windowOf(i, i.right(start, i.n(5)), i.both(start, i.n(31)));
  Value m = i.wide(fraction);
  Value low = i.right(i.mul(m, i.wide(window[2])), i.n(32, 64));
  Value high = i.left(i.wide(i.mul(fraction, window[0])), i.n(32, 64));
  Value product = i.add(i.add(i.mul(m, i.wide(window[1])), low), high);
  // The nearest quadrant and the distance to it, with 62 bits after the point.
  Value quadrant =
      i.right(i.add(product, i.n(int64_t(1) << 61, 64)), i.n(62, 64));
  Value left = i.sub(product, i.left(quadrant, i.n(62, 64)));
  Value sign = i.both(i.narrow(i.right(left, i.n(32, 64))),
                      i.n(std::numeric_limits<int32_t>::min()));
  left = math::AbsIOp::create(f.b, f.loc, left);
  // Splits the distance into two floats. The first is exact.
  Value top = i.narrow(i.right(left, i.n(32, 64)));
  Value upper = i.both(top, i.n(~int64_t(0x7f)));
  Value rest = i.either(i.left(i.both(top, i.n(0x7f)), i.n(24)),
                        i.right(i.narrow(left), i.n(8)));
  auto toFloat = [&](Value value, float scale) {
    return f.mul(arith::SIToFPOp::create(f.b, f.loc, f.type, value),
                 f.number(scale));
  };
  // pi/2 is a sum of two parts, too.
  Value a = toFloat(upper, 0x1p-30f), c = toFloat(rest, 0x1p-54f);
  Value y = f.add(a, c);
  Value slack = f.add(f.sub(a, y), c);
  Value angle = f.mul(y, f.number(1.57079637f));
  Value error =
      f.fma(y, f.number(-4.37113883e-8f), f.mul(slack, f.number(1.57079637f)));
  angle = f.ofBits(i.differ(f.bitsOf(f.add(angle, error)), sign));
  Value size = f.ofBits(bits);
  Value isSmall = arith::CmpFOp::create(f.b, f.loc, Predicate::OLT, size,
                                        f.number(0.785398163f));
  return {
      arith::SelectOp::create(f.b, f.loc, isSmall, i.n(0), i.narrow(quadrant)),
      arith::SelectOp::create(f.b, f.loc, isSmall, size, angle)};
}

/// Returns the sine of quadrant pi/2 + rest, and negates it if bit 31 of `sign`
/// is set. Even quadrants use the sine of the rest, odd ones its cosine.
static Value ofQuadrant(const FloatBuilder &f, Value x, Value quadrant,
                        Value rest, Value sign) {
  IntegerBuilder i{f};
  Value z = f.mul(rest, rest);
  Value sine =
      f.horner(z, {-1.9515295891e-4f, 8.3321608736e-3f, -1.6666654611e-1f});
  sine = f.fma(f.mul(sine, z), rest, rest);
  Value cosine = f.horner(z, {2.443315711809948e-5f, -1.388731625493765e-3f,
                              4.166664568298827e-2f});
  cosine =
      f.fma(f.mul(cosine, z), z, f.fma(z, f.number(-0.5f), f.number(1.0f)));
  Value y = i.choose(arith::CmpIPredicate::eq, i.both(quadrant, i.n(1)), i.n(0),
                     sine, cosine);
  sign = i.both(i.differ(sign, i.left(quadrant, i.n(30))),
                i.n(std::numeric_limits<int32_t>::min()));
  y = f.ofBits(i.differ(f.bitsOf(y), sign));
  // Infinities and NaN give NaN.
  Value none = f.sub(x, x);
  return f.select(Predicate::UNO, none, none, none, y);
}

Value elementary::approximateSin(const FloatBuilder &f, Value x) {
  Reduced angle = reduce(f, x);
  return ofQuadrant(f, x, angle.quadrant, angle.rest, f.bitsOf(x));
}

Value elementary::approximateCos(const FloatBuilder &f, Value x) {
  IntegerBuilder i{f};
  Reduced angle = reduce(f, x);
  return ofQuadrant(f, x, i.add(angle.quadrant, i.n(1)), angle.rest, i.n(0));
}

/// The polynomial is a minimax fit of the relative error of (tan(x) - x) / x³.
Value elementary::approximateTan(const FloatBuilder &f, Value x) {
  IntegerBuilder i{f};
  Reduced angle = reduce(f, x);
  Value z = f.mul(angle.rest, angle.rest);
  Value p =
      f.horner(z, {0.00384776993f, 0.00117744296f, 0.00996713527f, 0.021619685f,
                   0.0539946519f, 0.133332297f, 0.333333343f});
  Value tangent = f.fma(f.mul(p, z), angle.rest, angle.rest);
  Value y = i.choose(arith::CmpIPredicate::eq, i.both(angle.quadrant, i.n(1)),
                     i.n(0), tangent, f.div(f.number(-1.0f), tangent));
  Value sign = i.both(f.bitsOf(x), i.n(std::numeric_limits<int32_t>::min()));
  y = f.ofBits(i.differ(f.bitsOf(y), sign));
  // Infinities and NaN give NaN.
  Value none = f.sub(x, x);
  return f.select(Predicate::UNO, none, none, none, y);
}

static Value absolute(const FloatBuilder &f, Value x) {
  IntegerBuilder i{f};
  return f.ofBits(i.both(f.bitsOf(x), i.n(0x7fffffff)));
}

/// Gives y, which is at least 0, the sign of x.
static Value withSignOf(const FloatBuilder &f, Value y, Value x) {
  IntegerBuilder i{f};
  Value sign = i.both(f.bitsOf(x), i.n(std::numeric_limits<int32_t>::min()));
  return f.ofBits(i.either(f.bitsOf(y), sign));
}

/// Approximates atan by a polynomial for |x| of at most tan(pi/8). From
/// tan(pi/8) on, atan(x) = pi/4 + atan((x-1) / (x+1)). From tan(3pi/8) on,
/// atan(x) = pi/2 + atan(-1/x).
Value elementary::approximateAtan(const FloatBuilder &f, Value x) {
  Value size = absolute(f, x), one = f.number(1.0f);
  auto from = [&](float least, Value then, Value otherwise) {
    return f.select(Predicate::OGT, size, f.number(least), then, otherwise);
  };
  constexpr float middle = 0.4142135624f, high = 2.414213562f;
  Value above = from(middle, f.sub(size, one), size);
  above = from(high, f.number(-1.0f), above);
  Value below = from(middle, f.add(size, one), one);
  below = from(high, size, below);
  Value base = from(middle, f.number(0.785398163f), f.number(0.0f));
  base = from(high, f.number(1.57079633f), base);
  Value t = f.div(above, below), z = f.mul(t, t);
  Value p = f.horner(z, {8.05374449538e-2f, -1.38776856032e-1f,
                         1.99777106478e-1f, -3.33329491539e-1f});
  Value y = f.add(base, f.fma(f.mul(p, z), t, t));
  return withSignOf(f, y, x);
}

/// Returns asin(t) for z = t², |t| <= 1/2.
static Value asinOf(const FloatBuilder &f, Value t, Value z) {
  Value p = f.horner(z, {4.2163199048e-2f, 2.4181311049e-2f, 4.5470025998e-2f,
                         7.4953002686e-2f, 1.6666752422e-1f});
  return f.fma(f.mul(p, z), t, t);
}

/// Returns t and t² with |t| <= 1/2. For |x| up to 1/2, t is |x|. Else t is
/// sqrt((1 - |x|) / 2), whose arc sine is half the arc cosine of |x|. For |x| >
/// 1, t is NaN.
static std::pair<Value, Value> halved(const FloatBuilder &f, Value size) {
  Value half = f.number(0.5f);
  Value rest = f.mul(half, f.sub(f.number(1.0f), size));
  Value root = math::SqrtOp::create(f.b, f.loc, rest);
  auto isLarge = Predicate::OGT;
  return {f.select(isLarge, size, half, root, size),
          f.select(isLarge, size, half, rest, f.mul(size, size))};
}

Value elementary::approximateAsin(const FloatBuilder &f, Value x) {
  Value size = absolute(f, x);
  auto [t, z] = halved(f, size);
  Value y = asinOf(f, t, z);
  Value other = f.sub(f.number(1.57079633f), f.add(y, y));
  y = f.select(Predicate::OGT, size, f.number(0.5f), other, y);
  return withSignOf(f, y, x);
}

Value elementary::approximateAcos(const FloatBuilder &f, Value x) {
  Value size = absolute(f, x), zero = f.number(0.0f);
  auto [t, z] = halved(f, size);
  Value y = asinOf(f, t, z), twice = f.add(y, y);
  Value far = f.select(Predicate::OLT, x, zero,
                       f.sub(f.number(3.14159265f), twice), twice);
  Value near = f.sub(f.number(1.57079633f), withSignOf(f, y, x));
  return f.select(Predicate::UGT, size, f.number(0.5f), far, near);
}
