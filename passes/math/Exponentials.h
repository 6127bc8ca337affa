//===- Exponentials.h - exponentials in twice the bits ----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_MATH_EXPONENTIALS_H
#define INGOT_PASSES_MATH_EXPONENTIALS_H

#include "passes/math/Pairs.h"

namespace ingot::elementary {

/// Returns exp(x.high + x.low).
Number exponential(Pair x);

Number exp(Number x);
Number expm1(Number x);
Number sinh(Number x);
Number cosh(Number x);

/// Returns x^y with the special cases of IEEE 754.
Number pow(Number x, Number y);

} // namespace ingot::elementary

#endif // INGOT_PASSES_MATH_EXPONENTIALS_H
