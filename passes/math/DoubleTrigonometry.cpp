//===- DoubleTrigonometry.cpp - trigonometric functions of f64 ------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes sin, cos and tan of f64 without branches or tables in memory, within
// 1 ulp. The polynomials are those of fdlibm (Sun Microsystems, 1993).
//
// Angles of all magnitudes are reduced exactly (M. Payne and R. Hanek, "Radian
// reduction for trigonometric functions", 1983). The significand of the angle
// is multiplied, as an integer, by 192 bits of 2/pi. The code picks the 192
// bits that determine the quadrant and the angle within it.
//
//===----------------------------------------------------------------------===//
#include "passes/math/DoubleTrigonometry.h"

using namespace ingot;
using namespace ingot::elementary;

/// Bits of 2/pi after the binary point, behind 64 zeros.
static constexpr uint64_t kTwoOverPi[] = {
    0x0000000000000000, 0xA2F9836E4E441529, 0xFC2757D1F534DDC0,
    0xDB6295993C439041, 0xFE5163ABDEBBC561, 0xB7246E3A424DD2E0,
    0x06492EEA09D1921C, 0xFE1DEB1CB129A73E, 0xE88235F52EBB4484,
    0xE99C7026B45F7E41, 0x3991D639835339F4, 0x9C845F8BBDF9283B,
    0x1FF897FFDE05980F, 0xEF2F118B5A0A6D1F, 0x6D367ECF27CB09B7,
    0x4F463F669E5FEA2D, 0x7527BAC7EBE5F17B, 0x3D0739F78A5292EA,
    0x6BFB5FB11F8D5D08, 0x56033046FC7B6BAB};

static constexpr double kQuarterPi = 0.7853981633974483,
                        kQuarterPiLow = 3.0616169978683830e-17;

namespace {

/// An angle reduced to a quadrant: |angle| = quadrant pi/2 + rest, |rest| <=
/// pi/4.
struct Reduced {
  Bits quadrant;
  Pair rest;
};

/// A number of 192 bits.
struct Window {
  Bits high, middle, low;
};

} // namespace

/// Returns 192 bits of 2/pi from bit `start` on, which is less than 1088.
static Window windowOf(Bits start) {
  constexpr size_t kWords = std::size(kTwoOverPi), kNeeded = 4;
  llvm::SmallVector<Bits, kWords> words;
  for (uint64_t word : kTwoOverPi)
    words.push_back(start.like(word));
  // Moves words by 16, 8, 4, 2 and 1 to the front.
  for (size_t step = 16; step > 0; step /= 2) {
    Test moves = start.has(64 * step);
    for (size_t i = 0; i + step < words.size(); ++i)
      words[i] = choose(moves, words[i + step], words[i]);
    // Later steps move words by less than `step`.
    words.resize(kNeeded + step - 1, start);
  }
  Bits shift = start & 63, rest = shift.like(63) - shift;
  auto part = [&](size_t i) {
    return (words[i] << shift) | ((words[i + 1] >> 1) >> rest);
  };
  return {part(0), part(1), part(2)};
}

static Reduced reduce(Number x) {
  Number a = absolute(x);
  Bits bits = a.bits(), zero = bits.like(0);
  Test isSmall = a < kQuarterPi;
  // |x| = significand 2^(exponent - 1075).
  Bits exponent = choose(isSmall, bits.like(1022), bits >> 52);
  Bits significand = (bits & 0xfffffffffffff) | bits.like(uint64_t(1) << 52);
  // Picks 192 bits such that the product has two bits before the binary point.
  Window window = windowOf(exponent - (1077 - 64));
  Bits low = significand * window.middle,
       carried = significand.timesHigh(window.low);
  Bits second = low + carried;
  // The sum is less than a summand if it wraps.
  Bits carry = choose(second < low, low.like(1), low.like(0));
  Bits first =
      significand * window.high + significand.timesHigh(window.middle) + carry;
  // The nearest quadrant and the distance to it, with 128 bits after the point.
  Bits quadrant = ((first >> 61) + 1) >> 1;
  Bits upper = (first << 2) | (second >> 62), lower = second << 2;
  Bits sign = upper.shiftSigned(63);
  upper = upper ^ sign;
  lower = lower ^ sign;
  // Each half of a word is exact as a float.
  Pair distance = addOrdered(toNumber(upper >> 32) * 0x1p-32,
                             toNumber(upper & 0xffffffff) * 0x1p-64);
  Number tail = fma(toNumber(lower >> 32), 0x1p-96,
                    toNumber(lower & 0xffffffff) * 0x1p-128);
  distance = addOrdered(distance.high, distance.low + tail);
  Pair angle =
      distance * Pair{x.like(2 * kQuarterPi), x.like(2 * kQuarterPiLow)};
  Test isBelow = sign.has(1);
  angle = {choose(isBelow, -angle.high, angle.high),
           choose(isBelow, -angle.low, angle.low)};
  return {choose(isSmall, zero, quadrant),
          {choose(isSmall, a, angle.high), choose(isSmall, 0.0, angle.low)}};
}

/// Returns the sine of a reduced angle.
static Number sineOf(Pair x) {
  Number z = x.high * x.high, v = z * x.high;
  Number r = horner(z, {1.58969099521155010221e-10, -2.50507602534068634195e-08,
                        2.75573137070700676789e-06, -1.98412698298579493134e-04,
                        8.33333333332248946124e-03});
  return x.high - ((z * (0.5 * x.low - v * r) - x.low) -
                   v * -1.66666666666666324348e-01);
}

/// Returns the cosine of a reduced angle.
static Number cosineOf(Pair x) {
  Number z = x.high * x.high, half = 0.5 * z, w = 1 - half;
  Number r =
      z * horner(z, {-1.13596475577881948265e-11, 2.08757232129817482790e-09,
                     -2.75573143513906633035e-07, 2.48015872894767294178e-05,
                     -1.38888888888741095749e-03, 4.16666666666666019037e-02});
  return w + (((1 - w) - half) + (z * r - x.high * x.low));
}

/// Returns the sine of quadrant pi/2 + rest, and negates it if the upper bit of
/// `sign` is set. Infinities and NaN give NaN.
static Number ofQuadrant(Number x, Reduced angle, Bits sign) {
  Number y =
      choose(angle.quadrant.has(1), cosineOf(angle.rest), sineOf(angle.rest));
  sign = (sign ^ (angle.quadrant << 62)) & (uint64_t(1) << 63);
  y = ofBits(y.bits() ^ sign);
  Number none = x - x;
  return choose(none != none, none, y);
}

Number elementary::sin(Number x) { return ofQuadrant(x, reduce(x), x.bits()); }

Number elementary::cos(Number x) {
  Reduced angle = reduce(x);
  angle.quadrant = angle.quadrant + 1;
  return ofQuadrant(x, angle, x.bits().like(0));
}

Number elementary::tan(Number x) {
  Reduced angle = reduce(x);
  Test isOdd = angle.quadrant.has(1);
  // Above 0.67, tan(x) = (1 - tan(pi/4 - x)) / (1 + tan(pi/4 - x)).
  Pair rest = angle.rest;
  Number size = absolute(rest.high);
  Test isLarge = size > 0.67434;
  Number tail = choose(rest.high < 0, -rest.low, rest.low);
  Number t =
      choose(isLarge, (kQuarterPi - size) + (kQuarterPiLow - tail), size);
  tail = choose(isLarge, 0.0, tail);
  Number z = t * t, w = z * z;
  Number odd =
      horner(w, {-1.85586374855275456654e-05, 7.81794442939557092300e-05,
                 5.88041240820264096874e-04, 3.59207910759131235356e-03,
                 2.18694882948595424599e-02, 1.33333333333201242699e-01});
  Number even =
      z * horner(w, {2.59073051863633712884e-05, 7.14072491382608190305e-05,
                     2.46463134818469906812e-04, 1.45620945432529025516e-03,
                     8.86323982359930005737e-03, 5.39682539762260521377e-02});
  Number cube = z * t;
  Number r = tail + z * (cube * (odd + even) + tail);
  r = r + 3.33333333333334091986e-01 * cube;
  Pair tangent = addOrdered(t, r);
  // The tangent or minus the cotangent of pi/4 - t.
  Number sign = choose(isOdd, x.like(-1), x.like(1));
  Number far =
      sign -
      2 * (t - (tangent.high * tangent.high / (tangent.high + sign) - r));
  // The cotangent, with the remainder of the division.
  Number inverse = -1 / tangent.high;
  Number slack = fma(inverse, tangent.high, x.like(1));
  slack = fma(inverse, tangent.low, slack);
  Number near = choose(isOdd, fma(inverse, slack, inverse), tangent.high);
  Number y = choose(isLarge, far, near);
  y = ofBits(y.bits() ^ ((rest.high.bits() ^ x.bits()) & (uint64_t(1) << 63)));
  Number none = x - x;
  return choose(none != none, none, y);
}
