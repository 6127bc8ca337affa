//===- NNInterfaces.td - what nn ops say of themselves -----*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_NN_NNINTERFACES_TD
#define INGOT_DIALECTS_NN_NNINTERFACES_TD

include "mlir/IR/OpBase.td"

def NN_SizesOpInterface : OpInterface<"SizesOpInterface"> {
  let cppNamespace = "::ingot::nn";
  let description = [{
    The sizes of an op's results, and how the sizes of its operands have to fit
    each other. Every nn op has it: type inference evaluates it on what is
    static, and the checks of a run are what it leaves open.
  }];
  let methods = [InterfaceMethod<[{
      Evaluates the rules of the op: one entry of `results` for each result.
      Fails, with a message at the location of `rules`, if sizes surely do not
      fit.
    }], "::llvm::LogicalResult", "inferSizes",
    (ins "::ingot::nn::SizeRules &":$rules,
         "::llvm::SmallVectorImpl<::ingot::nn::SizedType> &":$results)>];
}

#endif // INGOT_DIALECTS_NN_NNINTERFACES_TD
