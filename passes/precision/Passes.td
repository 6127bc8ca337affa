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
    f16, and multiplied as f32, or by f16 where all levels of `ingot.targets`
    can (`nn-to-cpu`). It is `fp16` for `bf16`, too, where no level multiplies
    bf16 faster than f32.
    What that does not pay for stays f32, such as products of few terms, or of
    few rows by weights of f16 (`Policy.h`), unless a rule of `keep` names
    `half`. An op that has the attribute already keeps it, and one that comes
    from a node which `keep` names stays f32. A rule of no node is an error.
    With `computed-only` products of constants stay as they are, and so do
    convolutions: what is left are the products of an attention. They become
    bf16 where all levels multiply it faster than f32.
  }];
  let options = [
    Option<"half", "half", "::ingot::Precision", "::ingot::Precision::bf16",
           "What they multiply",
           [{::llvm::cl::values(
               clEnumValN(::ingot::Precision::bf16, "bf16", "bfloat16"),
               clEnumValN(::ingot::Precision::fp16, "fp16",
                          "float32 by weights of float16"))}]>,
    ListOption<"keep", "keep", "std::string",
               "Nodes that stay f32: GLOB=fp32">,
    Option<"computedOnly", "computed-only", "bool", "false",
           "Only matrix products whose factors a run computes">];
  let dependentDialects = ["::ingot::IngotDialect"];
}

#endif // INGOT_PASSES_PRECISION_PASSES_TD
