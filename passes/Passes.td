//===- Passes.td - all passes of Ingot ---------------------*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_TD
#define INGOT_PASSES_TD

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// legalize/
//===----------------------------------------------------------------------===//

def OnnxLegalize : Pass<"onnx-legalize", "::mlir::ModuleOp"> {
  let summary = "Rewrite onnx.node ops into nn, tensor, arith, linalg and scf";
  let description = [{
    Goes through the program in order, so that each node sees operands whose
    types and small constants are already final. Every node that has no
    lowering, or uses one that is missing, is reported, each with its name, op,
    opset and what is missing; then the pass fails.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
    "::mlir::math::MathDialect", "::ingot::nn::NNDialect"];
}

//===----------------------------------------------------------------------===//
// graph/
//===----------------------------------------------------------------------===//

def NNFoldConstants : Pass<"nn-fold-constants"> {
  let summary = "Compute ops whose operands are constant";
  let description = [{
    Runs every op's folder, and computes nn ops on constants in double (integers
    exactly), rounding once. A result larger than `max-bytes`, or much larger
    than its operands, is left to run time, where it costs less than to ship.
  }];
  let options = [
    Option<"maxBytes", "max-bytes", "int64_t", "16777216",
           "largest result that is computed, in bytes">,
    Option<"maxGrowth", "max-growth", "int64_t", "8",
           "how many times larger than its operands a result may be">,
    Option<"smallBytes", "small-bytes", "int64_t", "65536",
           "a result up to this size may grow by more">];
  let statistics = [Statistic<"folded", "folded", "ops folded">];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

//===----------------------------------------------------------------------===//
// lower/
//===----------------------------------------------------------------------===//

def NNToLinalg : Pass<"nn-to-linalg", "::mlir::ModuleOp"> {
  let summary = "Lower nn ops to linalg, tensor, arith and math";
  let description = [{
    Also drops the sign of integer types: `ui8` tensors become `i8`, their ops
    having been lowered by sign. Elementwise ops become `linalg.generic`s with
    broadcasting in the indexing maps; a dimension that may or may not broadcast
    in a run is decided there.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"];
}

#endif // INGOT_PASSES_TD
