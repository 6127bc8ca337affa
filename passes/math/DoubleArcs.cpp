//===- DoubleArcs.cpp - inverse trigonometric functions of f64 ------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes atan, asin and acos of f64 without branches, within 1 ulp. The
// coefficients and the intervals are those of fdlibm (Sun Microsystems, 1993).
//
//===----------------------------------------------------------------------===//
#include "passes/math/DoubleTrigonometry.h"

using namespace ingot;
using namespace ingot::elementary;

static constexpr double kHalfPi = 1.5707963267948966,
                        kHalfPiLow = 6.123233995736766e-17;

namespace {

/// An interval of atan: atan(x) = at + atan((x numerator - shift) / (x slope +
/// offset)), with the rounding error of `at`.
struct Interval {
  double from, factor, shift, slope, offset, at, low;
};

} // namespace

static constexpr Interval kIntervals[] = {
    {0, 1, 0, 0, 1, 0, 0},
    {0.4375, 2, 1, 1, 2, 4.63647609000806093515e-01,
     2.26987774529616870924e-17},
    {0.6875, 1, 1, 1, 1, 7.85398163397448278999e-01,
     3.06161699786838301793e-17},
    {1.1875, 1, 1.5, 1.5, 1, 9.82793723247329054082e-01,
     1.39033110312309984516e-17},
    {2.4375, 0, 1, 1, 0, kHalfPi, kHalfPiLow}};

Number elementary::atan(Number x) {
  Number a = absolute(x);
  auto ofInterval = [&](double Interval::*field) {
    Number value = x.like(kIntervals[0].*field);
    for (const Interval &each : llvm::drop_begin(kIntervals))
      value = choose(a < each.from, value, each.*field);
    return value;
  };
  // Each product is exact, except by 1.5.
  Number above =
      fma(a, ofInterval(&Interval::factor), -ofInterval(&Interval::shift));
  Number below =
      fma(a, ofInterval(&Interval::slope), ofInterval(&Interval::offset));
  Number t = above / below;
  t = choose(a == kInfinity, 0.0, t);
  Number z = t * t;
  Number p =
      z * horner(z, {1.62858201153657823623e-02, -3.65315727442169155270e-02,
                     4.97687799461593236017e-02, -5.83357013379057348645e-02,
                     6.66107313738753120669e-02, -7.69187620504482999495e-02,
                     9.09088713343650656196e-02, -1.11111104054623557880e-01,
                     1.42857142725034663711e-01, -1.99999999998764832476e-01,
                     3.33333333333329318027e-01});
  Number y =
      ofInterval(&Interval::at) - ((t * p - ofInterval(&Interval::low)) - t);
  return withSignOf(y, x);
}

/// Returns (asin(t) - t) / t for z = t², |t| <= 1/2.
static Number arcOf(Number z) {
  Number p =
      z * horner(z, {3.47933107596021167570e-05, 7.91534994289814532176e-04,
                     -4.00555345006794114027e-02, 2.01212532134862925881e-01,
                     -3.25565818622400915405e-01, 1.66666666666666657415e-01});
  Number q =
      horner(z, {7.70381505559019352791e-02, -6.88283971605453293030e-01,
                 2.02094576023350569471e+00, -2.40339491173441421878e+00, 1});
  return p / q;
}

namespace {

/// The pair sqrt(z), z = (1 - |x|) / 2, whose arc sine is half the arc cosine
/// of |x|. `arc` is (asin(root) - root) / root.
struct Half {
  Pair root;
  Number arc;

  /// Returns the low part of the arc sine. The high part is root.high.
  Number low() const { return fma(root.high, arc, root.low); }
};

} // namespace

static Half halfOf(Number a) {
  Number z = 0.5 * (1 - a), root = squareRoot(z);
  Number error = fma(-root, root, z) / (root + root);
  return {{root, choose(z == 0, 0.0, error)}, arcOf(z)};
}

Number elementary::asin(Number x) {
  Number a = absolute(x);
  Half half = halfOf(a);
  // pi/2 - 2 asin(root)
  Pair far = addOrdered(x.like(kHalfPi), -2 * half.root.high);
  Number y = far.high + (far.low + (kHalfPiLow - 2 * half.low()));
  y = choose(a < 0.5, fma(a, arcOf(a * a), a), y);
  return withSignOf(y, x);
}

Number elementary::acos(Number x) {
  Number a = absolute(x);
  Half half = halfOf(a);
  Number arc = half.root.high + half.low();
  Number negative =
      2 * kHalfPi - 2 * (half.root.high + (half.low() - kHalfPiLow));
  Number near = kHalfPi - (x - (kHalfPiLow - x * arcOf(x * x)));
  return choose(a < 0.5, near, choose(x < 0, negative, 2 * arc));
}
