//===- math/Passes.td - elementary functions and divisions -*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_MATH_PASSES_TD
#define INGOT_PASSES_MATH_PASSES_TD

include "mlir/Pass/PassBase.td"

def ApproximateMath : Pass<"approximate-math", "::mlir::ModuleOp"> {
  let summary = "Replace frequent transcendental functions by polynomials";
  let description = [{
    `exp`, `log`, `log1p`, `erf`, `tanh`, `sin`, `cos`, `atan`, `asin` and
    `acos` of f32, on which loops over tensors spend their time: polynomials and
    their quotients become vector code, calls of libm do not. So do `tanh` of
    f64 and the remainder of two f32, by f64, which is exact. Other functions,
    and those of doubles, stay calls. Errors are at most 2 ulp for `exp` and
    `log`, 3 ulp for functions of angles of any size, 6 ulp for `erf` and
    `tanh`, 4 ulp for that of f64.
  }];
  let dependentDialects = [
    "::ingot::IngotDialect", "::mlir::arith::ArithDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def DivideByConstants : Pass<"divide-by-constants", "::mlir::ModuleOp"> {
  let summary = "Multiply by one over a constant where that divides exactly";
  let description = [{
    `round(x / s)` of f32 by a constant, bounded before or not, becomes
    `round(fma(x, h, x l))`, where `h + l` is `1 / s` in twice the bits: a core
    has five times as many products as divisions done in a time. For each `s` it
    is proven that the quotient is rounded as it was; where it would not be, as
    for one in 30, and on CPUs without fused multiply-add the division stays.

    In a loop a division by a number that a buffer of no dimensions holds, as
    scales that a run finds, becomes products with one over it, in two parts,
    and a correction by what is left, if nothing but integers are made of it:
    they give the nearest float, for every `s` from 2^-60 to 2^60, of all that
    does not round to 0 (below, integers may be others). The dividend is
    bounded first, so that infinities and what overflows become the largest
    integer.
  }];
  let statistics = [
    Statistic<"numMultiplied", "multiplied", "divisions that are products">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
}

#endif // INGOT_PASSES_MATH_PASSES_TD
