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
    kernel that computes its operand. The kernel's result may have no other
    users, except ops on the way to the elementwise op, which then move with it,
    as in `x f(x)`. Other operands that broadcast to the result become epilogue
    operands. Scalar constants stay in the region. The kernel moves to the
    position of the elementwise op.

    An op that makes such an operand of rows and columns moves in as well. The
    epilogue then reads these instead of a whole matrix. Bytes with one element
    for each row are converted to floats in front of the kernel.

    A comparison moves together with the selection of two numbers that reads it.
    An op that converts bytes to f32 stays if only a transpose reads it, because
    the transpose converts bytes while it moves them.
  }];
  let statistics = [Statistic<"fused", "fused", "ops folded into an epilogue">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect"];
}

def SinkReshapes : Pass<"kernel-sink-reshapes", "::mlir::func::FuncOp"> {
  let summary = "Move reshapes of kernels' results behind elementwise nn ops";
  let description = [{
    Some kernels join dimensions: a group norm joins those of its pixels. A
    `tensor.expand_shape` then splits the result. Elementwise ops behind the
    reshape get the kernel's shape and move in front of the reshape, so that
    `kernel-fuse-epilogues` finds them. Their other operands are collapsed.

    A reshape stays if an op that is not elementwise reads the reshape or the
    kernel's result. A reshape also stays if another operand is broadcast along
    a part of a joined dimension.
  }];
  let statistics = [Statistic<"sunk", "sunk",
                              "elementwise ops in front of a reshape">];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

#endif // INGOT_PASSES_KERNEL_PASSES_TD
