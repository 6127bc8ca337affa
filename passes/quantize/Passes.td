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
    An `ingot.observe` behind each tensor that `nn-insert-quantize` would
    quantize: what convolutions and matrix products with constant weights read,
    what pooling before them reads, and the second operand of additions and
    multiplications that lead to them. Their names, by number, become
    `ingot.observed`: a tensor has the name of the model's input, or of the ONNX
    nodes that its operation comes from; `#2` and so on tells those of one name
    apart.
  }];
  let statistics = [
    Statistic<"observed", "observed", "tensors shown">];
  let dependentDialects = ["::ingot::IngotDialect"];
}

def InsertQuantize : Pass<"nn-insert-quantize", "::mlir::ModuleOp"> {
  let summary = "Quantize what a calibration has ranges of";
  let description = [{
    Around convolutions and matrix products with constant weights, the tensors
    that `nn-insert-observers` shows become `nn.quantize` to ui8 and
    `nn.dequantize`, with the scale and zero point that the file has under their
    name, and weights a constant of si8 and `nn.dequantize` with a scale for
    each output channel. A bias stays as it is. A product of which the file has
    no range, and operations that come from nodes which `keep` names, are left
    alone; so are those of which the model quantizes an operand itself.

    What only moves values gets its operands in the range of its result, so that
    it, too, is done on bytes.
  }];
  let options = [
    Option<"calibration", "calibration", "std::string", "",
           "File of ingot calibrate">,
    ListOption<"keep", "keep", "std::string",
               "Nodes that are not quantized: GLOB=fp32">];
  let statistics = [
    Statistic<"quantized", "quantized", "tensors quantized">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::ingot::nn::NNDialect"];
}

#endif // INGOT_PASSES_QUANTIZE_PASSES_TD
