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
  let summary = "Turn dnnl ops on memrefs into calls of the oneDNN glue";
  let description = [{
    Each op becomes a record of the constant table that `ingot/abi/dnnl.h`
    describes, and a call that names it, with the addresses of its memrefs and
    its dynamic sizes. Weights, being views of the argument marked
    the weights at a constant offset, go into the record instead: they are
    rearranged once, when the model is loaded. The run is passed on from the
    argument that is the call. The module gets `@ingot_load`, which hands the
    table to the glue, `@ingot_unload`, and a row of `ingot.libraries`.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect"];
}

def FusePostOps : Pass<"dnnl-fuse-post-ops", "::mlir::func::FuncOp"> {
  let summary = "Fold elementwise nn ops into the dnnl op before them";
  let description = [{
    An elementwise op becomes a post-op of the convolution or matrix product
    whose result nobody else uses: activations, sums and products with numbers,
    with a value a channel or with whole tensors. An addend of the result's
    shape that is not needed afterwards is summed to in place: the residual of a
    block. The op moves to where the elementwise op was.
  }];
  let statistics = [Statistic<"fused", "fused", "ops folded into an epilogue">];
  let dependentDialects = ["::ingot::dnnl::DnnlDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NNToDnnl : Pass<"nn-to-dnnl", "::mlir::func::FuncOp"> {
  let summary = "Give heavy nn ops to oneDNN";
  let description = [{
    Convolutions and transposed convolutions, matrix products, pooling, softmax
    and layer normalization become `dnnl` ops where oneDNN computes them: `f32`,
    spatial data channels-last, weights of static shape, windows that touch the
    input. All else stays for `nn-to-linalg`. An op with the attribute
    `ingot.backend = #ingot.backend<loops>` is left alone: here kernels are
    chosen per op.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::ingot::dnnl::DnnlDialect",
    "::ingot::nn::NNDialect", "::mlir::tensor::TensorDialect"];
}

#endif // INGOT_PASSES_DNNL_LOWER_PASSES_TD
