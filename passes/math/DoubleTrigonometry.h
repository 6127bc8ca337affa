//===- DoubleTrigonometry.h - trigonometric functions of f64 ----*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_MATH_DOUBLETRIGONOMETRY_H
#define INGOT_PASSES_MATH_DOUBLETRIGONOMETRY_H

#include "passes/math/Pairs.h"

namespace ingot::elementary {

// Functions of f64.
Number sin(Number x);
Number cos(Number x);
Number tan(Number x);
Number atan(Number x);
Number asin(Number x);
Number acos(Number x);

} // namespace ingot::elementary

#endif // INGOT_PASSES_MATH_DOUBLETRIGONOMETRY_H
