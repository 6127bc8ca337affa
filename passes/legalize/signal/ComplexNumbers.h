//===- ComplexNumbers.h - complex arithmetic --------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LEGALIZE_SIGNAL_COMPLEXNUMBERS_H
#define INGOT_PASSES_LEGALIZE_SIGNAL_COMPLEXNUMBERS_H

#include "passes/legalize/core/Helpers.h"

namespace ingot::legalize {

/// A complex scalar or vector. The imaginary part is null if the number is
/// known to be real.
struct ComplexValue {
  Value re, im;
};

/// Complex arithmetic of scalars or vectors.
struct ComplexNumbers : Indices {
  Value plus(Value x, Value y) {
    return mlir::arith::AddFOp::create(b, loc, x, y, contract());
  }
  Value minus(Value x, Value y) {
    return mlir::arith::SubFOp::create(b, loc, x, y, contract());
  }
  Value times(Value x, Value y) {
    return mlir::arith::MulFOp::create(b, loc, x, y, contract());
  }
  ComplexValue plus(ComplexValue x, ComplexValue y) {
    return {plus(x.re, y.re), plus(x.im, y.im)};
  }
  ComplexValue minus(ComplexValue x, ComplexValue y) {
    return {minus(x.re, y.re), minus(x.im, y.im)};
  }
  ComplexValue times(ComplexValue x, ComplexValue y) {
    if (!x.im)
      return {times(x.re, y.re), times(x.re, y.im)};
    return {minus(times(x.re, y.re), times(x.im, y.im)),
            plus(times(x.re, y.im), times(x.im, y.re))};
  }
  ComplexValue scaled(ComplexValue x, Value factor) {
    return {times(x.re, factor), x.im ? times(x.im, factor) : Value()};
  }
  /// Returns x e^(-2πi k / n), where n is at most 8.
  ComplexValue timesRootOfUnity(ComplexValue x, int64_t k, int64_t n);
  /// Returns the Fourier transform of a few points.
  SmallVector<ComplexValue> transform(ArrayRef<ComplexValue> x);
  Value constant(Type type, double value);
  Value toFloat(Value index, Type type) {
    Value wide =
        mlir::arith::IndexCastOp::create(b, loc, b.getI64Type(), index);
    return mlir::arith::SIToFPOp::create(b, loc, type, wide);
  }
  mlir::arith::FastMathFlagsAttr contract() {
    return mlir::arith::FastMathFlagsAttr::get(
        b.getContext(), mlir::arith::FastMathFlags::contract);
  }
};

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_SIGNAL_COMPLEXNUMBERS_H
