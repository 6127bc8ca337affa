//===- Exponentials.cpp - exponentials in twice the bits ------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes exponentials of f32 and f64. With x = n ln 2 + r and |r| <= ln(2)/2,
// exp(x) = 2^n (1 + v) for v = exp(r) - 1. The argument may be a pair, as the
// logarithm in a power is. The polynomials are minimax fits of the relative
// error of (exp(r) - 1 - r) / r² and of (sinh(x) - x) / x³.
//
//===----------------------------------------------------------------------===//
#include "passes/math/Exponentials.h"
#include "passes/math/Logarithms.h"

using namespace ingot;
using namespace ingot::elementary;

namespace {

/// The number 2^exponent (1 + fraction).
struct Power {
  Pair fraction;
  Number exponent;
};

} // namespace

/// Returns the argument above which exp, and half of it, overflow. At its
/// negative, they are 0.
static double limitOf(Number x) { return x.isDouble() ? 750 : 110; }

/// Clamps x to [-limit, limit]. NaN stays NaN.
static Number clamp(Number x, double limit) {
  return choose(x > limit, limit, choose(x < -limit, -limit, x));
}

/// Precondition: |x| is at most the limit, or NaN.
static Power powerOf(Pair x) {
  const bool isDouble = x.high.isDouble();
  Number n = nearest(x.high * 1.4426950408889634);
  // n times the high part of ln 2 is exact, and so is the difference.
  Number high =
      fma(n, isDouble ? -0.6931471805598903 : -0.693145751953125, x.high);
  Number low = fma(
      n, isDouble ? -5.497923018708371e-14 : -1.4286068203094173e-06, x.low);
  Pair r = addExactly(high, low);
  Number tail =
      isDouble ? horner(r.high, {1.6068404206201673e-10, 2.0918937475312677e-09,
                                 2.5052132828491714e-08, 2.755726110380544e-07,
                                 2.75573191711885e-06, 2.4801587338485764e-05,
                                 0.00019841269841304257, 0.0013888888888878303,
                                 0.008333333333333325, 0.04166666666666668,
                                 0.16666666666666666, 0.5})
               : horner(r.high, {0.000198581285, 0.00139344973, 0.00833336171,
                                 0.0416664556, 0.166666672, 0.5});
  tail = fma(r.high * r.high, tail, r.low);
  return {addOrdered(r.high, tail), n};
}

/// Returns 2^shift exp(x) for a small shift.
static Number assemble(Power power, double shift) {
  Pair sum = addOrdered(power.exponent.like(1), power.fraction.high);
  Number p = sum.high + (sum.low + power.fraction.low);
  // Two factors reach infinity and denormal numbers.
  Number n = power.exponent + shift, half = nearest(0.5 * n);
  return p * powerOf2(half) * powerOf2(n - half);
}

Number elementary::exponential(Pair x) {
  const double limit = limitOf(x.high);
  Number low = choose(absolute(x.high) < limit, x.low, 0.0);
  return assemble(powerOf({clamp(x.high, limit), low}), 0);
}

Number elementary::exp(Number x) {
  return assemble(powerOf({clamp(x, limitOf(x)), x.like(0)}), 0);
}

Number elementary::expm1(Number x) {
  // Beyond these limits the result is infinity or -1.
  const bool isDouble = x.isDouble();
  Number bounded =
      choose(x > (isDouble ? 709.9 : 88.9), isDouble ? 709.9 : 88.9, x);
  bounded = choose(x < -50, -50.0, bounded);
  Power power = powerOf({bounded, x.like(0)});
  // Half of 2^n (1 + v) - 1 does not overflow.
  Number half = powerOf2(power.exponent - 1);
  Number y = fma(half, power.fraction.high, half * power.fraction.low);
  y = 2 * ((half - 0.5) + y);
  return withSignOf(choose(absolute(x) < 0x1p-60, x, y), x);
}

/// Returns e^|x| / 2.
static Number halfExponential(Number x) {
  Number size = choose(x > limitOf(x), limitOf(x), x);
  return assemble(powerOf({size, x.like(0)}), -1);
}

Number elementary::sinh(Number x) {
  Number a = absolute(x), z = a * a;
  Number series =
      x.isDouble() ? horner(z, {2.844477021446142e-15, 7.646627089501199e-13,
                                1.6059048372608936e-10, 2.5052108364219783e-08,
                                2.7557319224039772e-06, 0.00019841269841269773,
                                0.008333333333333333, 0.16666666666666666})
                   : horner(z, {2.80614177e-06, 0.000198381225, 0.00833333936,
                                0.166666672});
  Number near = fma(a * z, series, a);
  Number half = halfExponential(a), far = half - 0.25 / half;
  return withSignOf(choose(a < 1, near, far), x);
}

Number elementary::cosh(Number x) {
  Number half = halfExponential(absolute(x));
  return half + 0.25 / half;
}

Number elementary::pow(Number x, Number y) {
  Number a = absolute(x);
  Pair ln = logarithm(a), product = multiplyExactly(ln.high, y);
  product.low = fma(ln.low, y, product.low);
  Number r = exponential(product);
  // Zeros and infinities. A power of 1 is 1.
  Test isEnd = a == 0 || a == kInfinity || absolute(y) == kInfinity;
  Test grows = (a > 1) == (y > 0);
  r = choose(isEnd, choose(grows, kInfinity, x.like(0)), r);
  r = choose(a == 1, 1.0, r);
  // Large numbers are even.
  Number half = 0.5 * y;
  Test isWhole = truncated(y) == y;
  Test isOdd = isWhole && truncated(half) != half;
  r = choose(isOdd, withSignOf(r, x), r);
  Test isNone = x < 0 && a != kInfinity && truncated(y) != y;
  r = choose(isNone, kNaN, r);
  Number sum = x + y;
  r = choose(x != x || y != y, sum, r);
  return choose(x == 1 || y == 0, 1.0, r);
}
