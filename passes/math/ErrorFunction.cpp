//===- ErrorFunction.cpp - erf of f64 -------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes erf of f64 without branches, within 1 ulp, by quotients of
// polynomials on four intervals. Intervals and coefficients are those of fdlibm
// (Sun Microsystems, 1993).
//
//===----------------------------------------------------------------------===//
#include "passes/math/ErrorFunction.h"
#include "passes/math/Exponentials.h"

using namespace ingot;
using namespace ingot::elementary;

namespace {

/// A quotient of polynomials, highest power first, for numbers up to `limit`.
struct Quotient {
  double limit, above[8], below[9];
};

} // namespace

static constexpr Quotient kQuotients[] = {
    // (erf(x) - x) / x of x²
    {0.84375,
     {0, 0, 0, -2.37630166566501626084e-05, -5.77027029648944159157e-03,
      -2.84817495755985104766e-02, -3.25042107247001499370e-01,
      1.28379167095512558561e-01},
     {0, 0, 0, -3.96022827877536812320e-06, 1.32494738004321644526e-04,
      5.08130628187576562776e-03, 6.50222499887672944485e-02,
      3.97917223959155352819e-01, 1}},
    // erf(x) - kMiddle of x - 1
    {1.25,
     {0, -2.16637559486879084300e-03, 3.54783043256182359371e-02,
      -1.10894694282396677476e-01, 3.18346619901161753674e-01,
      -3.72207876035701323847e-01, 4.14856118683748331666e-01,
      -2.36211856075265944077e-03},
     {0, 0, 1.19844998467991074170e-02, 1.36370839120290507362e-02,
      1.26171219808761642112e-01, 7.18286544141962662868e-02,
      5.40397917702171048937e-01, 1.06420880400844228286e-01, 1}},
    // ln(x erfc(x)) + x² + 0.5625 of 1/x²
    {1 / 0.35,
     {-9.81432934416914548592e+00, -8.12874355063065934246e+01,
      -1.84605092906711035994e+02, -1.62396669462573470355e+02,
      -6.23753324503260060396e+01, -1.05586262253232909814e+01,
      -6.93858572707181764372e-01, -9.86494403484714822705e-03},
     {-6.04244152148580987438e-02, 6.57024977031928170135e+00,
      1.08635005541779435134e+02, 4.29008140027567833386e+02,
      6.45387271733267880336e+02, 4.34565877475229228821e+02,
      1.37657754143519042600e+02, 1.96512716674392571292e+01, 1}},
    {6,
     {0, -4.83519191608651397019e+02, -1.02509513161107724954e+03,
      -6.37566443368389627722e+02, -1.60636384855821916062e+02,
      -1.77579549177547519889e+01, -7.99283237680523006574e-01,
      -9.86494292470009928597e-03},
     {0, -2.24409524465858183362e+01, 4.74528541206955367215e+02,
      2.55305040643316442583e+03, 3.19985821950859553908e+03,
      1.53672958608443695994e+03, 3.25792512996573918826e+02,
      3.03380607434824582924e+01, 1}}};

/// The value of erf at 1, rounded so that the quotient beside it is accurate.
static constexpr double kMiddle = 8.45062911510467529297e-01;

/// Evaluates the polynomials `field` of the quotient for `a` at `z`.
template <size_t N>
static Number evaluate(Number z, Number a, double (Quotient::*field)[N]) {
  Number sum = z.like(0);
  for (size_t i = 0; i < N; ++i) {
    Number c = z.like((kQuotients[3].*field)[i]);
    for (size_t k = 3; k-- > 0;)
      c = choose(a < kQuotients[k].limit, (kQuotients[k].*field)[i], c);
    sum = i == 0 ? c : fma(sum, z, c);
  }
  return sum;
}

Number elementary::erf(Number x) {
  Number a = absolute(x);
  Test isSmall = a < kQuotients[0].limit, isMiddle = a < kQuotients[1].limit;
  // At 6, the result is 1.
  Number bounded = choose(a > 6, 6.0, a);
  Pair square = multiplyExactly(bounded, bounded);
  Number z = choose(isSmall, square.high,
                    choose(isMiddle, bounded - 1, 1 / square.high));
  Number q =
      evaluate(z, a, &Quotient::above) / evaluate(z, a, &Quotient::below);
  Pair power = addExactly(-square.high, (q - 0.5625) - square.low);
  Number far = 1 - exponential(power) / bounded;
  Number y = choose(isSmall, fma(a, q, a), choose(isMiddle, kMiddle + q, far));
  return withSignOf(y, x);
}
