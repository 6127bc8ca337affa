//===- backend/Passes.td - who computes an op --------------*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_BACKEND_PASSES_TD
#define INGOT_PASSES_BACKEND_PASSES_TD

include "mlir/Pass/PassBase.td"

def AssignBackends : Pass<"nn-assign-backends", "::mlir::func::FuncOp"> {
  let summary = "Say which nn ops oneDNN computes";
  let description = [{
    Ops that compute one of the given ONNX nodes get the attribute
    `ingot.backend = #ingot.backend<onednn>`, all others `native`; `nn-to-dnnl` and `nn-to-cpu`
    act on it. It is an error if no op computes one of the nodes.
  }];
  let options = [ListOption<"onednn", "onednn", "std::string",
                            "ONNX nodes that oneDNN computes">];
  let dependentDialects = ["::ingot::IngotDialect"];
}

#endif // INGOT_PASSES_BACKEND_PASSES_TD
