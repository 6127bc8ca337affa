//===- Doubles.h - functions computed in f64 --------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_MATH_DOUBLES_H
#define INGOT_PASSES_MATH_DOUBLES_H

#include "passes/support/FloatBuilder.h"

#include "mlir/IR/PatternMatch.h"

namespace ingot::elementary {

/// Approximates tanh of f64.
mlir::Value approximateDoubleTanh(const FloatBuilder &f, mlir::Value x);

/// Adds the pattern that expands the remainder of two f32, or of two vectors of
/// f32.
void populateRemainder(mlir::RewritePatternSet &patterns);

} // namespace ingot::elementary

#endif // INGOT_PASSES_MATH_DOUBLES_H
