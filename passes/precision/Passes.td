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
                          "float32 by weights of float16"))}]>,
    ListOption<"keep", "keep", "std::string",
               "Nodes to keep in fp32: GLOB=fp32">,
    Option<"computedOnly", "computed-only", "bool", "false",
           "Rewrite only matrix products whose factors a run computes">];
  let dependentDialects = ["::ingot::IngotDialect"];
}

#endif // INGOT_PASSES_PRECISION_PASSES_TD
