//===- Logarithms.h - logarithms in twice the bits --------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_MATH_LOGARITHMS_H
#define INGOT_PASSES_MATH_LOGARITHMS_H

#include "passes/math/Pairs.h"

namespace ingot::elementary {

/// Returns the natural logarithm of a finite x > 0 in twice the bits.
Pair logarithm(Number x);

Number log(Number x);
Number log1p(Number x);
Number asinh(Number x);
Number acosh(Number x);
Number atanh(Number x);

} // namespace ingot::elementary

#endif // INGOT_PASSES_MATH_LOGARITHMS_H
