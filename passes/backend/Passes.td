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
  let summary = "Assign each heavy nn op to a backend";
  let description = [{
    An op of a kind for which a backend of `backends` has kernels gets the
    attribute `ingot.backend`. The first backend that accepts the op is chosen,
    or else the backend that takes all remaining ops of the device. An op that
    already has the attribute keeps it. It is an error if no backend of the
    device accepts the op. The module's attribute `ingot.declined` lists each op
    that a backend declined, with the reason. Each choice is recorded as a
    decision. Lowerings follow `ingot.backend`.

    For ops that compute one of `preferred-nodes`, the backend `preferred` is
    tried first. It is an error if no op computes one of these nodes.
  }];
  let options = [
    ListOption<"backends", "backends", "std::string",
               "Backends in the order in which they are tried">,
    Option<"preferred", "preferred", "std::string", "",
           "Backend that is tried first for preferred-nodes">,
    ListOption<"preferredNodes", "preferred-nodes", "std::string",
               "ONNX nodes for which the preferred backend is tried first">];
  let statistics = [
    Statistic<"numDeclined", "declined", "Ops that a backend declined">];
  let dependentDialects = ["::ingot::IngotDialect"];
}

#endif // INGOT_PASSES_BACKEND_PASSES_TD
