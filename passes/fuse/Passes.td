//===- fuse/Passes.td - passes that fuse epilogues ---------*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_FUSE_PASSES_TD
#define INGOT_PASSES_FUSE_PASSES_TD

include "mlir/Pass/PassBase.td"

def DnnlFusePostOps : Pass<"dnnl-fuse-post-ops", "::mlir::func::FuncOp"> {
  let summary = "Fold elementwise nn ops into the dnnl op before them";
  let description = [{
    An elementwise op becomes a post-op of the convolution or matrix product
    whose result nobody else uses: activations, sums and products with numbers,
    with a value a channel or with whole tensors. An addend of the result's shape
    that is not needed afterwards is summed to in place: the residual of a
    block. The op moves to where the elementwise op was.
  }];
  let statistics = [Statistic<"fused", "fused", "ops folded into an epilogue">];
  let dependentDialects = ["::ingot::dnnl::DnnlDialect",
                           "::mlir::tensor::TensorDialect"];
}

def FuseEpilogues : Pass<"cpu-fuse-epilogues", "::mlir::func::FuncOp"> {
  let summary = "Fold elementwise nn ops into the cpu op before them";
  let description = [{
    An elementwise op moves into the epilogue of the convolution or matrix
    product whose result nobody else uses. Its other operands, which broadcast to
    the result, become epilogue operands; numbers stay in the region. The kernel
    moves to where the elementwise op was.
  }];
  let statistics = [Statistic<"fused", "fused", "ops folded into an epilogue">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::ingot::cpu::CpuDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif // INGOT_PASSES_FUSE_PASSES_TD
