//===- null/Passes.td - from nn to null --------------------*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TEST_BACKEND_NULL_PASSES_TD
#define INGOT_TEST_BACKEND_NULL_PASSES_TD

include "mlir/Pass/PassBase.td"

def NNToNull : Pass<"nn-to-null", "::mlir::func::FuncOp"> {
  let summary = "Give nn.relu to the null backend";
  let description = [{
    An `nn.relu` of f32 that no other backend computes becomes `null.relu`.
  }];
  let dependentDialects = ["::ingot::null::NullDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NullToLinalg : Pass<"null-to-linalg", "::mlir::ModuleOp"> {
  let summary = "Generate the code of the null backend";
  let description = [{
    A `null.relu` on memrefs becomes a loop of the CPU, because its device does
    not exist. The metadata of the module says how many there were.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect"];
}

#endif // INGOT_TEST_BACKEND_NULL_PASSES_TD
