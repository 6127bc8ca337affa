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
    movement, reductions, softmax and reshapes, with renumbered axes. A
    transpose thus moves down until it meets its inverse or a result of the
    function. The pass visits each op once, after its operands, and creates no
    transpose of the identity.

    A transpose passes an op with several operands only if this does not add
    more transposes than it removes. Constants are transposed at compile time.
    An elementwise op of constants and of a tensor with one channel is computed
    in the other order. A matmul absorbs a swap of the last two dimensions.
    Channel shuffles (reshape, transpose, reshape) become a transpose within
    each pixel.

    Finally, a transpose of the result of a `resize` moves in front of it, if
    the result is at least four times larger. Sizes that a run computes count as
    doubled. A transpose that moves only dimensions of one element becomes a
    reshape.
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
    Convolutions of many groups whose weights have dynamic channels stay as they
    are. `nn-propagate-transposes` then moves the transposes to the model's
    inputs and outputs.
  }];
  let statistics = [
    Statistic<"numChanged", "changed", "Ops given channels-last data">];
}

#endif // INGOT_PASSES_LAYOUT_PASSES_TD
