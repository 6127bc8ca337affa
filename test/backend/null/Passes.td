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

#endif // INGOT_TEST_BACKEND_NULL_PASSES_TD
