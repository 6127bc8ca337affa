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
  let summary = "Choose the heavy ops that multiply bf16 or f16";
  let description = [{
    Convolutions and matrix products of f32 get the attribute
    `ingot.precision = #ingot.precision<bf16>`, which `nn-to-cpu` implements:
    data and weights are bf16, sums stay f32. All other ops compute in f32.

    With `half=fp16` the attribute is `fp16`, only for constant weights. These
    are stored as f16. They are multiplied as f32, or as f16 if all levels of
    `ingot.targets` can (`nn-to-cpu`). The attribute is also `fp16` with
    `half=bf16` if no level multiplies bf16 faster than f32.

    With `half=tf32` the attribute is `tf32`, if the policy's device multiplies
    it: data and weights stay f32, and are rounded when they are multiplied.

    Products that gain nothing stay f32 (`Policy.h`), for example products of
    few terms, unless a rule of `keep` names `half`. An op that already has the
    attribute keeps it. Ops that come from nodes which `keep` names stay f32. A
    rule that matches no node is an error.

    With `computed-only` the pass ignores convolutions and products with
    constants. The remaining products are those of attention. They become bf16
    if all levels multiply it faster than f32.
  }];
  let options = [
    Option<"half", "half", "::ingot::Precision", "::ingot::Precision::bf16",
           "Type that the ops multiply",
           [{::llvm::cl::values(
               clEnumValN(::ingot::Precision::bf16, "bf16", "bfloat16"),
               clEnumValN(::ingot::Precision::fp16, "fp16",
                          "float32 by weights of float16"),
               clEnumValN(::ingot::Precision::tf32, "tf32",
                          "float32 with 10 bits of fraction"))}]>,
    ListOption<"keep", "keep", "std::string",
               "Nodes to keep in fp32: GLOB=fp32">,
    Option<"computedOnly", "computed-only", "bool", "false",
           "Rewrite only matrix products whose factors a run computes">];
  let dependentDialects = ["::ingot::IngotDialect"];
}

def NarrowStorage : Pass<"narrow-storage", "::mlir::func::FuncOp"> {
  let summary = "Store tensors between heavy ops as bf16 or f16";
  let description = [{
    Around products of bf16 a tensor of f32 becomes bf16 if all ops that make or
    use it can handle it. The epilogue that stores it rounds, ops that load it
    widen, and data movement takes it as it is. A cast to bf16 disappears. All
    arithmetic stays f32. Arguments and results of the function, constants,
    results of `linalg` reductions, and all values that are compared or
    converted to integers keep their types.

    `PrecisionTable.cpp` has a rule for each level and kind of op. Its results
    are stored as bf16 wherever they can be, only after other bf16 tensors, or
    never. A tensor that only products read may always be bf16, because they
    round it. Rules of `keep` take precedence.

    With `half=fp16` the type is f16 instead of bf16, around products of f16.
    Results of sums then stay f32, except for products. So do those of ops with
    constants that f16 does not hold.

    Nothing changes if the device's policy does not multiply `half` when the
    user asks for it (`Policy::halfPrecisionForm`).
  }];
  let options = [
    Option<"half", "half", "::ingot::Precision", "::ingot::Precision::bf16",
           "Type of the stored tensors",
           [{::llvm::cl::values(
               clEnumValN(::ingot::Precision::bf16, "bf16", "bfloat16"),
               clEnumValN(::ingot::Precision::fp16, "fp16", "float16"))}]>,
    Option<"level", "level", "int", "1",
           "Level of --precision: 1, 2 or 3 for O1, O2 or O3">,
    ListOption<"keep", "keep", "std::string",
               "Nodes whose results stay f32: GLOB=fp32">];
  let statistics = [
    Statistic<"narrowed", "narrowed", "tensors stored as bf16 or f16">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::ingot::IngotDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

#endif // INGOT_PASSES_PRECISION_PASSES_TD
