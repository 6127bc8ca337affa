//===- Trigonometry.h - trigonometric functions -----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_MATH_TRIGONOMETRY_H
#define INGOT_PASSES_MATH_TRIGONOMETRY_H

#include "passes/support/FloatBuilder.h"

namespace ingot::elementary {

mlir::Value approximateSin(const FloatBuilder &f, mlir::Value x);
mlir::Value approximateCos(const FloatBuilder &f, mlir::Value x);
mlir::Value approximateTan(const FloatBuilder &f, mlir::Value x);
mlir::Value approximateAtan(const FloatBuilder &f, mlir::Value x);
mlir::Value approximateAsin(const FloatBuilder &f, mlir::Value x);
mlir::Value approximateAcos(const FloatBuilder &f, mlir::Value x);

} // namespace ingot::elementary

#endif // INGOT_PASSES_MATH_TRIGONOMETRY_H
