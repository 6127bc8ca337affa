//===- backend/Passes.td - who computes an op --------------*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_BACKEND_PASSES_TD
#define INGOT_PASSES_BACKEND_PASSES_TD

include "mlir/Pass/PassBase.td"

def AssignBackends : Pass<"nn-assign-backends", "::mlir::ModuleOp"> {
  let summary = "Give each heavy nn op to a backend";
  let description = [{
    An op of a kind that a backend of `backends` has kernels for gets the
    attribute `ingot.backend` of the first that takes it, or `loops`; one that
    has the attribute keeps it. What a backend was asked for and did not take
    stands, with its reason, in the module's attribute `ingot.declined`, and is
    a remark of the category `backend`. Lowerings act on the attribute.

    For ops that compute one of `onednn-nodes`, oneDNN is asked first. It is an
    error if no op computes one of these nodes.
  }];
  let options = [
    ListOption<"backends", "backends", "std::string",
               "Backends in the order in which they are asked">,
    ListOption<"onednnNodes", "onednn-nodes", "std::string",
               "ONNX nodes that oneDNN is asked for first">];
  let statistics = [
    Statistic<"numDeclined", "declined", "Ops that a backend did not take">];
  let dependentDialects = ["::ingot::IngotDialect"];
}

#endif // INGOT_PASSES_BACKEND_PASSES_TD
