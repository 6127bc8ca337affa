//===- Logarithms.cpp - logarithms in twice the bits ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes logarithms of f32 and f64 as pairs, for Pow and for functions whose
// argument is a sum. With x = 2^k m and t = (m - 1) / (m + 1), ln x = k ln 2 +
// 2 atanh(t). The first two terms of the series are pairs. The coefficients of
// the rest are minimax fits of its relative error. The method is that of SLEEF
// (N. Shibata, F. Petrogalli, "SLEEF: a portable vectorized library of C
// standard mathematical functions", 2020).
//
// The other functions are those of fdlibm (Sun Microsystems, 1993): they keep
// the precision near 0 by log1p.
//
//===----------------------------------------------------------------------===//
#include "passes/math/Logarithms.h"

using namespace ingot;
using namespace ingot::elementary;

/// ln 2 as a pair of doubles.
static constexpr double kLn2 = 0.6931471805599453;

namespace {

/// x = 2^exponent mantissa, sqrt(1/2) <= mantissa < sqrt(2).
struct Split {
  Number mantissa, exponent;
};

} // namespace

static Split split(Number x) {
  const bool isDouble = x.isDouble();
  // Makes denormal numbers normal.
  Test isSmall = x < (isDouble ? 0x1p-1022 : 0x1p-126);
  const double shift = isDouble ? 54 : 25;
  x = choose(isSmall, x * (isDouble ? 0x1p54 : 0x1p25), x);
  const uint64_t fractionBits = isDouble ? 52 : 23;
  const uint64_t least = isDouble ? 0x3fe6a09e667f3bcd : 0x3f3504f3;
  Bits bits = x.bits();
  Bits exponent = (bits - least).shiftSigned(fractionBits);
  Number mantissa = ofBits(bits - (exponent << fractionBits));
  Number k = toNumber(exponent);
  return {mantissa, choose(isSmall, k - shift, k)};
}

/// Returns P with 2 atanh(t) = 2 t + t³ (2/3 + z P(z)), z = t².
static Number seriesOf(Number z) {
  if (z.isDouble())
    return horner(z,
                  {0.1076265162820595, 0.1045630053119017, 0.11766814399211717,
                   0.133332965026211, 0.15384615761608705, 0.18181818179653644,
                   0.2222222222222844, 0.28571428571428564, 0.4});
  return horner(z, {0.191207319, 0.222047493, 0.285715312, 0.400000006});
}

Pair elementary::logarithm(Number x) {
  const bool isDouble = x.isDouble();
  Split parts = split(x);
  Number m = parts.mantissa, k = parts.exponent;
  // m - 1 and the low part of m + 1 are exact.
  Number above = m - 1, below = m + 1, belowLow = m - (below - 1);
  Number inverse = 1 / below, quotient = above * inverse;
  Number rest = fma(-quotient, below, above);
  rest = fma(-quotient, belowLow, rest);
  Pair t{quotient, rest * inverse};
  Pair cube = t * (t * t);
  Number tail = t.high * t.high * seriesOf(t.high * t.high);
  Pair factor =
      addOrdered(x.like(isDouble ? 0.6666666666666666 : 0.666666687), tail);
  factor.low =
      factor.low + (isDouble ? 3.700743415417188e-17 : -1.9868214925130207e-08);
  Pair third = cube * factor;
  Pair sum = addOrdered(2 * t.high, third.high);
  sum.low = sum.low + (third.low + 2 * t.low);
  // k times the high part of ln 2 is exact.
  Number high = k * (isDouble ? 0.6931471805598903 : 0.693145751953125),
         low = k * (isDouble ? 5.497923018708371e-14 : 1.4286068203094173e-06);
  Pair total = addOrdered(high, sum.high);
  return addOrdered(total.high, total.low + (sum.low + low));
}

/// Returns ln x, and what follows from it for numbers that have no finite
/// logarithm. `y` is the logarithm of other numbers.
static Number extend(Number x, Number y) {
  y = choose(x == 0, -kInfinity, y);
  y = choose(x == kInfinity, kInfinity, y);
  Test isNumber = x < 0;
  y = choose(isNumber, kNaN, y);
  return choose(x != x, x, y);
}

Number elementary::log(Number x) { return extend(x, logarithm(x).high); }

/// Returns ln(x.high + x.low).
static Number logarithmOf(Pair x) {
  Pair y = logarithm(x.high);
  return extend(x.high, y.high + (y.low + x.low / x.high));
}

Number elementary::log1p(Number x) {
  Number y = logarithmOf(addExactly(x.like(1), x));
  // Small and infinite x are results, too, with the sign of a zero.
  return choose(absolute(x) < 0x1p-60, x, choose(x == kInfinity, x, y));
}

/// Returns the least number whose square plus 1 is the square.
static double largeSquare(Number x) { return x.isDouble() ? 0x1p28 : 0x1p14; }

Number elementary::asinh(Number x) {
  // ln(a + sqrt(a² + 1)) = log1p(a + a² / (1 + sqrt(a² + 1))), or ln a + ln 2.
  Number a = absolute(x), square = a * a;
  Test isLarge = a > largeSquare(x);
  Number more = a + square / (1 + squareRoot(square + 1));
  Pair sum = addExactly(x.like(1), more);
  Number y = logarithmOf(
      {choose(isLarge, a, sum.high), choose(isLarge, 0.0, sum.low)});
  y = choose(isLarge, y + kLn2, y);
  return withSignOf(choose(a < 0x1p-30, a, y), x);
}

Number elementary::acosh(Number x) {
  // With t = x - 1, ln(x + sqrt(x² - 1)) = log1p(t + sqrt(2 t + t²)).
  Number t = x - 1;
  Test isLarge = x > largeSquare(x);
  Pair sum = addExactly(x.like(1), t + squareRoot(fma(t, t, t + t)));
  Number y = logarithmOf(
      {choose(isLarge, x, sum.high), choose(isLarge, 0.0, sum.low)});
  y = choose(isLarge, y + kLn2, y);
  return choose(x < 1, kNaN, y);
}

Number elementary::atanh(Number x) {
  Number a = absolute(x), y = 0.5 * log1p((a + a) / (1 - a));
  return withSignOf(y, x);
}
