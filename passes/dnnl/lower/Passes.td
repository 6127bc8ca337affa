//===- dnnl/lower/Passes.td - from nn to oneDNN ------------*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_DNNL_LOWER_PASSES_TD
#define INGOT_PASSES_DNNL_LOWER_PASSES_TD

include "mlir/Pass/PassBase.td"

def DnnlToCalls : Pass<"dnnl-to-calls", "::mlir::ModuleOp"> {
  let summary = "Lower dnnl ops on memrefs to calls of the oneDNN library code";
  let description = [{
    Each op becomes a call and a record of the constant table that
    `ingot/abi/dnnl.h` describes. The call passes the index of the record, the
    addresses of the op's memrefs, and its dynamic sizes. The record, not the
    call, holds the weights, which are views of the weights argument at a
    constant offset. They are packed once, when the model is loaded. The call
    also gets the run's call.

    The module gets a row of `ingot.libraries`, `@ingot_load`, which passes the
    table to the library code, and `@ingot_unload`.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect"];
}

def FusePostOps : Pass<"dnnl-fuse-post-ops", "::mlir::func::FuncOp"> {
  let summary =
      "Fuse elementwise nn ops into the dnnl op that computes their operand";
  let description = [{
    An elementwise op becomes a post-op of a convolution or matrix product whose
    result has no other users. Post-ops are activations, and sums and products
    with constants, with a value for each channel or with whole tensors. An
    addend of the result's shape is updated in place if this is its last use,
    for example the residual of a block. The dnnl op moves to the position of
    the elementwise op.
  }];
  let statistics = [Statistic<"fused", "fused", "ops folded into an epilogue">];
  let dependentDialects = ["::ingot::dnnl::DnnlDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NNToDnnl : Pass<"nn-to-dnnl", "::mlir::func::FuncOp"> {
  let summary = "Lower heavy nn ops to oneDNN";
  let description = [{
    Convolutions, transposed convolutions, matrix products, pooling, softmax and
    layer normalization become `dnnl` ops if oneDNN supports them. They must be
    `f32`, with channels-last spatial data, weights of static shape, and windows
    that touch the input. `nn-to-linalg` lowers all other ops. An op with the
    attribute `ingot.backend = #ingot.backend<loops>` stays, so that kernels can
    be chosen for each op.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::ingot::dnnl::DnnlDialect",
    "::ingot::nn::NNDialect", "::mlir::tensor::TensorDialect"];
}

#endif // INGOT_PASSES_DNNL_LOWER_PASSES_TD
