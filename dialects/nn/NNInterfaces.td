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

def NN_ElementwiseOpInterface : OpInterface<"ElementwiseOpInterface"> {
  let cppNamespace = "::ingot::nn";
  let description = [{
    An op that computes each element of its result from the elements of its
    operands at the same position, after numpy-style broadcasting of the
    operands. What it computes is written once, as a body of scalar ops:
    lowering puts it into a loop or an epilogue, folding runs it on constants.
  }];
  let methods = [InterfaceMethod<[{
      Builds what the op computes of one element of each operand, `args`:
      signless scalars of the operands' element types, or all floats among them
      in a wider type, in which they are then computed. Null if the op is not
      defined on its element type.
    }], "::mlir::Value", "buildScalar",
    (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$args)>];
}

#endif // INGOT_DIALECTS_NN_NNINTERFACES_TD
