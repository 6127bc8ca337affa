//===- kernel/Passes.td - passes on kernels ----------------*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_KERNEL_PASSES_TD
#define INGOT_PASSES_KERNEL_PASSES_TD

include "mlir/Pass/PassBase.td"

def FuseEpilogues : Pass<"kernel-fuse-epilogues", "::mlir::func::FuncOp"> {
  let summary = "Fold elementwise nn ops into the kernel before them";
  let description = [{
    An elementwise op moves into the epilogue (`EpilogueOpInterface`) of the
    kernel whose result nobody else uses, or only others on the way to that op,
    which then move with it: `x f(x)`. Their other operands, which broadcast to
    the result, become epilogue operands; numbers stay in the region. The kernel
    moves to where the elementwise op was. A condition moves with the choice
    between two numbers that reads it. An op that makes f32 of bytes stays where
    a transpose alone reads it: the transpose widens bytes while it turns them.
  }];
  let statistics = [Statistic<"fused", "fused", "ops folded into an epilogue">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif // INGOT_PASSES_KERNEL_PASSES_TD
