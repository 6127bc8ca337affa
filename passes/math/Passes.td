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
    Replaces `exp`, `log`, `log1p`, `erf`, `tanh`, `sin`, `cos`, `atan`, `asin`
    and `acos` of f32 by polynomials and quotients of polynomials. These become
    vector code; calls of libm do not. The pass also replaces `tanh` of f64, and
    the remainder of two f32, which it computes exactly in f64. Other functions,
    and other functions of f64, stay calls.

    Errors are at most 2 ulp for `exp` and `log`, and 3 ulp for functions of
    angles of any size. They are at most 6 ulp for `erf` and `tanh` of f32, and
    4 ulp for `tanh` of f64.
  }];
  let dependentDialects = [
    "::ingot::IngotDialect", "::mlir::arith::ArithDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def ExpandMath : Pass<"expand-math", "::mlir::ModuleOp"> {
  let summary = "Expand transcendental functions for devices without libm";
  let description = [{
    Replaces the functions of f32 and f64 that `approximate-math` leaves to
    libm. For f32 and f64 these are `powf`, `sinh`, `cosh`, `tan`, `asinh`,
    `acosh`, `atanh` and `expm1`. For f64 alone they are `exp`, `log`, `log1p`,
    `erf`, `sin`, `cos`, `atan`, `asin` and `acos`. The code has neither
    branches nor tables in memory, and needs fused multiply-adds.

    Errors are at most 2 ulp for `expm1`, the hyperbolic functions and their
    inverses, and 4 ulp for `tan` of f32. They are at most 1 ulp for the other
    functions, for angles of any size. Powers that are exact in the type are
    exact. Infinities, NaN and signed zeros follow IEEE 754, and denormal
    numbers keep their value.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
}

def DivideByConstants : Pass<"divide-by-constants", "::mlir::ModuleOp"> {
  let summary = "Replace divisions by exact multiplications with the inverse";
  let description = [{
    Replaces `round(x / s)` of f32 with a constant `s` by
    `round(fma(x, h, x l))`, where `h + l` is `1 / s` in twice the bits. A clamp
    may stand between division and rounding. Multiplications have several times
    the throughput of divisions. For each `s` the pass proves that every
    quotient is rounded as the division rounds it. If the proof fails, or if the
    CPU has no fused multiply-add, the division stays.

    In a loop, the divisor may also be loaded from a buffer of rank 0. An
    example is a quantization scale that is computed at run time. The division
    is replaced if its result only becomes integers. The replacement multiplies
    by the inverse, in two parts. For every `s` from 2^-60 to 2^60 the quotient
    has a relative error of at most 2^-46 before it becomes a float. Outside of
    this range the integers may differ. The dividend is clamped first, so that
    infinities and overflows become the largest integer.
  }];
  let statistics = [
    Statistic<"numMultiplied", "multiplied", "divisions that are products">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
}

def FuseMultiplyAdds : Pass<"fuse-multiply-adds", "::mlir::ModuleOp"> {
  let summary = "Scale and shift sums of integers by one instruction";
  let description = [{
    Replaces `x * a + b` of f32 by `fma(x, a, b)` if `x * a` is computed from
    sums of integers that the same kernel adds up. Epilogues of products of
    bytes then need fewer instructions, and round once instead of twice.

    Functions of bytes alone keep both roundings, because `nn-fold-byte-scales`
    has proven their integers with them. Other floats keep them as well. A CPU
    without fused multiply-adds computes the same in f64 (`expand-fma`), so that
    all levels give the same bits.

    A number of a row times numbers of columns, added to a sum of integers, gets
    the flag `contract`. LLVM fuses both where the CPU has the instruction.
    These are whole numbers, which are exact either way.
  }];
  let statistics = [
    Statistic<"numFused", "fused", "sums of a product that are one op">];
  let dependentDialects = ["::mlir::math::MathDialect"];
}

#endif // INGOT_PASSES_MATH_PASSES_TD
