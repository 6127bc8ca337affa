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
    Visits nodes in program order, so that each node sees final operand types
    and folded small constants. Every node that has no lowering, or that needs
    an unsupported feature, is reported with its name, operator, opset and the
    missing feature. Then the pass fails. The pass also fails at a tensor of
    more than `max-elements`, before it creates ops of that size.
  }];
  let options = [
    Option<"maxElements", "max-elements", "int64_t",
           "::ingot::onnx::kLargestTensor",
           "Most elements of a tensor">,
    Option<"maxLoopSteps", "max-loop-steps", "int64_t",
           "::ingot::onnx::kMostLoopSteps",
           "Most steps of a loop">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect",
    "::mlir::linalg::LinalgDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
    "::mlir::math::MathDialect", "::mlir::vector::VectorDialect",
    "::ingot::nn::NNDialect"];
}

#endif // INGOT_PASSES_LEGALIZE_PASSES_TD
