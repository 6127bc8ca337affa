//===- layout/Passes.td - passes that place channels last --*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LAYOUT_PASSES_TD
#define INGOT_PASSES_LAYOUT_PASSES_TD

include "mlir/Pass/PassBase.td"

def PropagateTransposes : Pass<"nn-propagate-transposes"> {
  let summary = "Move transposes behind the ops that use them, and cancel them";
  let description = [{
    `op(transpose(a))` becomes `transpose(op(a))` for elementwise ops, data
    movement, reductions, softmax and reshapes, with their axes renumbered, so
    that a transpose goes on until it meets its inverse or a result of the
    function. It is one walk in which each op is visited once, after its
    operands, and no transpose of the identity is made. Ops with several
    operands are passed only if that adds no more transposes than it takes away;
    constants are transposed at once. A matmul takes in a swap of the last two
    dimensions. Channel shuffles (reshape, transpose, reshape) become a
    transpose within each pixel.

    In the end, a transpose of what a `resize` made at least four times larger,
    where sizes that a run computes count as twice those before, is done before
    it, and one that moves only dimensions of one element becomes a reshape.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"numLeft", "left", "Transposes left">];
}

def ToChannelsLast : Pass<"nn-to-channels-last"> {
  let summary = "Give spatial ops channels-last data";
  let description = [{
    Convolutions, poolings and normalizations on `N, C, D1...` become the same
    op with `channels_last`, between two transposes. Weights keep their layout.
    Convolutions of many groups by weights of open channels stay as they are.
    `nn-propagate-transposes` then takes the transposes to the model's edges.
  }];
  let statistics = [
    Statistic<"numChanged", "changed", "Ops given channels-last data">];
}

#endif // INGOT_PASSES_LAYOUT_PASSES_TD
