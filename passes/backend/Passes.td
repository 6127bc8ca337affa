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
    attribute `ingot.backend` of the first that takes it, else of the backend
    that takes what others of the device decline; one that has the attribute
    keeps it. It is an error if no backend of the device takes the op. Each
    op that a backend declined stands, with the reason, in the module's
    attribute `ingot.declined`. Each choice is recorded as a decision. Lowerings
    act on `ingot.backend`.

    For ops that compute one of `preferred-nodes`, the backend `preferred` is
    asked first. It is an error if no op computes one of these nodes.
  }];
  let options = [
    ListOption<"backends", "backends", "std::string",
               "Backends in the order in which they are asked">,
    Option<"preferred", "preferred", "std::string", "",
           "The backend that is asked first for preferred-nodes">,
    ListOption<"preferredNodes", "preferred-nodes", "std::string",
               "ONNX nodes that the preferred backend is asked for first">];
  let statistics = [
    Statistic<"numDeclined", "declined", "Ops that a backend did not take">];
  let dependentDialects = ["::ingot::IngotDialect"];
}

#endif // INGOT_PASSES_BACKEND_PASSES_TD
