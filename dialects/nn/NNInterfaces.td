//===- NNInterfaces.td - interfaces of nn ops --------------*- tablegen -*-===//
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
    The sizes of an op's results, and the rules for the sizes of its operands.
    Every nn op has this interface. Type inference evaluates it on static sizes,
    and the remaining rules become run-time checks.
  }];
  let methods = [InterfaceMethod<[{
      Evaluates the rules of the op and appends an entry to `results` for each
      result. Fails with a message at the location of `rules` if the sizes
      cannot fit.
    }], "::llvm::LogicalResult", "inferSizes",
    (ins "::ingot::nn::SizeRules &":$rules,
         "::llvm::SmallVectorImpl<::ingot::nn::SizedType> &":$results)>];
}

def NN_ElementwiseOpInterface : OpInterface<"ElementwiseOpInterface"> {
  let cppNamespace = "::ingot::nn";
  let description = [{
    An op that computes each element of its result from the elements of its
    operands at the same position, after numpy-style broadcasting of the
    operands. The op defines its function once, as a body of scalar ops.
    Lowering puts the body into a loop or an epilogue, and folding runs it on
    constants.
  }];
  let methods = [InterfaceMethod<[{
      Builds the body of the op for one element of each operand, `args`. They
      are signless scalars of the operands' element types. All floats among them
      may have a wider type, which is then the type of the computation. Returns
      null if the op is not defined on its element type.
    }], "::mlir::Value", "buildScalar",
    (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$args)>];
}

#endif // INGOT_DIALECTS_NN_NNINTERFACES_TD
