//===- legalize/Passes.td - from ONNX to nn ----------------*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LEGALIZE_PASSES_TD
#define INGOT_PASSES_LEGALIZE_PASSES_TD

include "mlir/Pass/PassBase.td"

def Legalize : Pass<"onnx-legalize", "::mlir::ModuleOp"> {
  let summary = "Rewrite onnx.node ops into nn, tensor, arith, linalg and scf";
  let description = [{
    Goes through the program in order, so that each node sees operands whose
    types and small constants are already final. Every node that has no
    lowering, or uses one that is missing, is reported, each with its name, op,
    opset and what is missing; then the pass fails. So it does at a tensor of
    more than `max-elements`, before anything is made of its size.
  }];
  let options = [
    Option<"maxElements", "max-elements", "int64_t",
           "::ingot::onnx::kLargestTensor",
           "most elements that a tensor may have">,
    Option<"maxLoopSteps", "max-loop-steps", "int64_t",
           "::ingot::onnx::kMostLoopSteps",
           "most steps that a loop may take">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect",
    "::mlir::linalg::LinalgDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
    "::mlir::math::MathDialect", "::mlir::vector::VectorDialect",
    "::ingot::nn::NNDialect"];
}

#endif // INGOT_PASSES_LEGALIZE_PASSES_TD
