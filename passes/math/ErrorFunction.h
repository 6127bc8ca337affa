//===- ErrorFunction.h - erf of f64 -----------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_MATH_ERRORFUNCTION_H
#define INGOT_PASSES_MATH_ERRORFUNCTION_H

#include "passes/math/Number.h"

namespace ingot::elementary {

/// Returns erf of f64.
Number erf(Number x);

} // namespace ingot::elementary

#endif // INGOT_PASSES_MATH_ERRORFUNCTION_H
