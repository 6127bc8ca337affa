//===- precision/Passes.td - passes that choose types ------*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_PRECISION_PASSES_TD
#define INGOT_PASSES_PRECISION_PASSES_TD

include "mlir/Pass/PassBase.td"

def AssignPrecision : Pass<"nn-assign-precision", "::mlir::ModuleOp"> {
  let summary = "Say which heavy ops multiply in bf16";
  let description = [{
    Convolutions and matrix products of f32 get the attribute
    `ingot.precision = #ingot.precision<bf16>`, which `nn-to-cpu` follows: src
    and weights are bf16, sums stay f32. All other ops compute in f32. With
    `half=fp16` it is `fp16`, for constant weights only: these are stored as
    f16, and multiplied as f32, or, with `half-sums`, by f16 (`nn-to-cpu`). It
    is `fp16` for `bf16`, too, where no CPU level has instructions for that.
    What that does not pay for stays f32, such as products of few terms, or of
    few rows by weights of f16 (`HalfProducts.h`), unless a rule of `keep` names
    `half`. An op that has the attribute already keeps it, and one that comes
    from a node which `keep` names stays f32. A rule of no node is an error.
    With `computed-only` products of constants stay as they are, and so do
    convolutions: what is left are the products of an attention.
  }];
  let options = [
    Option<"half", "half", "::ingot::Precision", "::ingot::Precision::bf16",
           "What they multiply",
           [{::llvm::cl::values(
               clEnumValN(::ingot::Precision::bf16, "bf16", "bfloat16"),
               clEnumValN(::ingot::Precision::fp16, "fp16",
                          "float32 by weights of float16"))}]>,
    Option<"multipliesBF16", "multiplies-bf16", "bool", "true",
           "Whether a CPU level has instructions for products of bf16">,
    Option<"halfSums", "half-sums", "bool", "false",
           "Whether float16 is multiplied by float16">,
    ListOption<"keep", "keep", "std::string",
               "Nodes that stay f32: GLOB=fp32">,
    Option<"computedOnly", "computed-only", "bool", "false",
           "Only matrix products whose factors a run computes">];
  let dependentDialects = ["::ingot::IngotDialect"];
}

def PromoteFloats : Pass<"nn-promote-floats", "::mlir::func::FuncOp"> {
  let summary = "Compute what is declared float16 or bfloat16 in f32";
  let description = [{
    Ops on `f16` and `bf16` read, compute and make `f32`; numbers are rounded
    where the model itself casts them, where they leave the function, and where
    an op of another dialect takes them, such as the state of a loop. So no
    result is rounded more often than the model says, and all that follows knows
    one type of floats. What only moves stored numbers does so with 16 bits.
    Products of two `bf16` tensors get the attribute
    `ingot.precision = #ingot.precision<bf16>`, those with constant weights of
    `f16` `#ingot.precision<fp16>`: they are stored so, unless that takes longer
    than f32 (`HalfProducts.h`). Where no CPU level multiplies bf16 faster than
    f32, `multiplies-bf16` is false: those of `bf16` then are as of `f16`.
  }];
  let options = [
    Option<"multipliesBF16", "multiplies-bf16", "bool", "true",
           "Whether a CPU level has instructions for products of bf16">];
  let statistics = [
    Statistic<"promoted", "promoted", "ops that compute f32">];
  let dependentDialects = [
    "::ingot::IngotDialect", "::mlir::arith::ArithDialect"];
}

def NarrowStorage : Pass<"narrow-storage", "::mlir::func::FuncOp"> {
  let summary = "Store what goes from heavy op to heavy op as bf16 or f16";
  let description = [{
    Around products of bf16 a tensor of f32 becomes one of bf16 where all ops
    that make or use it can: the epilogue that stores it rounds, what loads it
    widens, data movement takes it as it is, and a cast to bf16 is there no
    more. All arithmetic stays f32. What the function takes and returns,
    constants, results of `linalg` reductions and all that is compared or
    converted to integers is stored as before.

    `PrecisionTable.cpp` says for each level and kind of op whether its results
    are stored as bf16 wherever they can, only behind what is, or never; what
    only products read, which round it, may be stored so all the same. Rules of
    `keep` come first.

    With `half=fp16` it is f16 in place of bf16, around products of f16; results
    of sums, and of ops with constants that f16 does not hold, stay f32 then but
    for products.
  }];
  let options = [
    Option<"half", "half", "::ingot::Precision", "::ingot::Precision::bf16",
           "What tensors become",
           [{::llvm::cl::values(
               clEnumValN(::ingot::Precision::bf16, "bf16", "bfloat16"),
               clEnumValN(::ingot::Precision::fp16, "fp16", "float16"))}]>,
    Option<"level", "level", "int", "1", "1, 2 or 3, as --precision=O1 …">,
    ListOption<"keep", "keep", "std::string",
               "Nodes whose results stay f32: GLOB=fp32">];
  let statistics = [
    Statistic<"narrowed", "narrowed", "tensors stored as bf16 or f16">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"];
}

#endif // INGOT_PASSES_PRECISION_PASSES_TD
