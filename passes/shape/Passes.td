//===- shape/Passes.td - passes over sizes and indices -----*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SHAPE_PASSES_TD
#define INGOT_PASSES_SHAPE_PASSES_TD

include "mlir/Pass/PassBase.td"

def BroadcastBatches : Pass<"nn-broadcast-batches", "::mlir::func::FuncOp"> {
  let summary =
      "Repeat operands of matmul whose batch may or may not broadcast";
  let description = [{
    Kernels read an operand of `nn.matmul` once for each batch or along with it:
    which of them is decided when compiling. Where two batch dimensions are open
    and not known to be equal, both operands are broadcast to the size that the
    run finds. A bias that may be repeated becomes an addition, which decides it
    in the run.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"numBroadcast", "broadcast", "Operands that are broadcast">];
}

def CheckIndices : Pass<"nn-check-indices", "::mlir::func::FuncOp"> {
  let summary = "Refuse constant indices that name no position";
  let description = [{
    An index of a gather or scatter is in [-n, n) for a dimension of n elements.
    Where indices and dimension are known, one that is not is an error, which
    gives the index, its place and what is allowed. It stands behind
    `nn-fold-constants`, so that indices that are computed from constants are
    looked at, too. Whatever is not known is checked in the run.
  }];
}

def DropBroadcasts : Pass<"nn-drop-broadcasts", "::mlir::ModuleOp"> {
  let summary = "Drop broadcasts that elementwise operations do themselves";
  let description = [{
    Of an operation that has the sizes of its result from another operand, as
    where a model expands the weight of each channel to all pixels before it
    multiplies them. No transpose would move through that without a copy of all
    pixels.

    Example:
    ```mlir
    %1 = nn.broadcast_to %g : tensor<1x8x1x1xf32> -> tensor<1x8x5x6xf32>
    %2 = nn.mul %x, %1 : tensor<1x8x5x6xf32>, tensor<1x8x5x6xf32>
                         -> tensor<1x8x5x6xf32>
    ```
    becomes
    ```mlir
    %2 = nn.mul %x, %g : tensor<1x8x5x6xf32>, tensor<1x8x1x1xf32>
                         -> tensor<1x8x5x6xf32>
    ```
  }];
}

def DropIdentities : Pass<"nn-drop-identities", "::mlir::ModuleOp"> {
  let summary = "Drop broadcasts and reshapes to the sizes that a tensor has";
  let description = [{
    Which open sizes are one is known from the checks of `nn-require-sizes`: of
    heads that a model repeats once, say, or of a mask that it expands to a
    batch. Such an `nn.broadcast_to` or `tensor.reshape` gives what it is given,
    but no transpose would move through it, and an attention not be found behind
    it.
  }];
}

def HoistChecks : Pass<"ingot-hoist-checks", "::mlir::func::FuncOp"> {
  let summary = "Check sizes as early as they are known";
  let description = [{
    Moves each `ingot.require` of the function's block, with all ops without
    effects that it needs, to the function's entry, or right behind the last op
    with effects that it needs. So nothing else reads or writes memory whose
    size was not checked yet.
  }];
  let statistics = [Statistic<"numMoved", "moved", "Ops that went up">];
}

def LowerReshapes : Pass<"nn-lower-reshapes", "::mlir::ModuleOp"> {
  let summary = "Write reshapes to sizes of a run as views";
  let description = [{
    A `tensor.reshape` says nothing of which dimensions become which. Where the
    checks of `nn-require-sizes` tell, it is a `tensor.collapse_shape` and a
    `tensor.expand_shape`, past which elementwise operations and transposes are
    fused as they are past reshapes of known sizes. A reshape of which
    this is not known of all dimensions is left.
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"numLowered", "lowered", "Reshapes that became views">];
}

def RecognizeSlices : Pass<"nn-recognize-slices", "::mlir::ModuleOp"> {
  let summary = "Recognize assignments to slices in what scatters are told";
  let description = [{
    Exporters write `x[:, 1:, 2:5] = y` as a ScatterND whose indices are ranges,
    expanded to all elements of the slice and joined: eight bytes for each
    coordinate of each element. Where all coordinates are counted in the order
    of the dimensions, that is `tensor.insert_slice`, which is done in place. So
    is a ScatterElements whose indices are counted along its axis.

    Of dimensions of open size the run is asked whether a position that is known
    is one of theirs.

    Example:
    ```mlir
    %i = arith.constant dense<[[2], [3], [4]]> : tensor<3x1xi64>
    %0 = nn.scatter_nd none %x, %i, %y
      : (tensor<7x8xf32>, tensor<3x1xi64>, tensor<3x8xf32>) -> tensor<7x8xf32>
    ```
    becomes
    ```mlir
    %0 = tensor.insert_slice %y into %x[2, 0] [3, 8] [1, 1]
      : tensor<3x8xf32> into tensor<7x8xf32>
    ```
  }];
  let dependentDialects = ["::ingot::IngotDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"numRecognized", "recognized", "Assignments recognized">];
}

def RefuteChecks : Pass<"ingot-refute-checks", "::mlir::func::FuncOp"> {
  let summary = "Refuse what would end every run";
  let description = [{
    An `ingot.require` in the function's block whose condition is known to be
    false is an error of the compilation, with the message that runs would end
    with: one for each node.
  }];
}

def RequireSizes : Pass<"nn-require-sizes", "::mlir::ModuleOp"> {
  let summary = "Check in the run what sizes have to fit and may not";
  let description = [{
    Evaluates the size rules of every nn op (`SizesOpInterface`) on symbolic
    sizes. A rule that they prove is dropped. One that they refute is an error.
    Each other becomes an `ingot.require`: at the entry of the function if it
    follows from the sizes of the function's arguments, else before the op.
    Dimensions of arguments that have one name have to be equal.

    The module attribute `ingot.size_rules` counts both kinds.
  }];
  let dependentDialects = ["::ingot::IngotDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"numProved", "proved", "Rules that hold for all sizes">,
    Statistic<"numChecked", "checked", "Rules that are checked in the run">];
}

def NameSizes : Pass<"nn-name-sizes", "::mlir::func::FuncOp"> {
  let summary = "Name the open dimensions of results as those of arguments";
  let description = [{
    A dimension of a result without a name takes the name of the first dimension
    of an argument that has its size in every run. Names come from the model
    (`ingot.dim_names`), and which sizes are one from `nn-require-sizes`: ONNX's
    own inference forgets names at many operators.
  }];
  let statistics = [Statistic<"numNamed", "named", "Dimensions named">];
}

#endif // INGOT_PASSES_SHAPE_PASSES_TD
