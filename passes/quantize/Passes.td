//===- quantize/Passes.td - passes that quantize -----------*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_QUANTIZE_PASSES_TD
#define INGOT_PASSES_QUANTIZE_PASSES_TD

include "mlir/Pass/PassBase.td"

def InsertObservers : Pass<"nn-insert-observers", "::mlir::ModuleOp"> {
  let summary = "Show the tensors that int8 wants ranges of";
  let description = [{
    An `ingot.observe` behind each tensor that `nn-insert-quantize` would quantize:
    what convolutions and matrix products with constant weights read, what pooling
    before them reads, and the second operand of additions and multiplications that
    lead to them. Their names, by number, become `ingot.observed`: a tensor has the
    name of the model's input, or of the ONNX nodes that its operation comes from;
    `#2` and so on tells those of one name apart.
  }];
  let statistics = [
    Statistic<"observed", "observed", "tensors shown">];
  let dependentDialects = ["::ingot::IngotDialect"];
}

#endif // INGOT_PASSES_QUANTIZE_PASSES_TD
