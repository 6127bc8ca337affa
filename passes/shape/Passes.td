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
      "Broadcast operands of matmul whose batch may or may not broadcast";
  let description = [{
    Kernels read an operand of `nn.matmul` either once for all batches or per
    batch, as decided at compile time. If two batch dimensions are dynamic and
    not known to be equal, the pass broadcasts both operands to the size at run
    time. A bias that may broadcast becomes a separate addition, which decides
    this at run time.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"numBroadcast", "broadcast", "Operands that are broadcast">];
}

def CheckIndices : Pass<"nn-check-indices", "::mlir::func::FuncOp"> {
  let summary = "Reject constant indices that are out of range";
  let description = [{
    An index of a gather or scatter is in [-n, n) for a dimension of n elements.
    If indices and dimension are constant, an index out of range is an error.
    The error gives the value, its position and the allowed range. The pass runs
    after `nn-fold-constants`, so that it also checks indices that are computed
    from constants. Other indices are checked at run time.
  }];
}

def DropBroadcasts : Pass<"nn-drop-broadcasts", "::mlir::ModuleOp"> {
  let summary = "Drop broadcasts that elementwise operations do themselves";
  let description = [{
    Drops the broadcast of an operand of an elementwise operation, if the
    operation has the sizes of its result from another operand. For example, a
    model may expand the weight of each channel to all pixels before it
    multiplies. A transpose could not move through such a broadcast without
    copying all pixels.

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
  let summary = "Drop broadcasts and reshapes that do not change the sizes";
  let description = [{
    Drops `nn.broadcast_to` and `tensor.reshape` ops that do not change the
    sizes. The checks of `nn-require-sizes` tell which dynamic sizes are equal.
    Examples are heads that a model repeats once, or a mask that a model expands
    to the batch. Such ops would prevent transposes from moving and attention
    from being recognized.
  }];
}

def HoistChecks : Pass<"ingot-hoist-checks", "::mlir::func::FuncOp"> {
  let summary = "Check sizes as early as they are known";
  let description = [{
    Moves each `ingot.require` of the function's block to the function's entry,
    together with all side-effect-free ops that it needs. If it needs an op with
    side effects, it goes right behind the last such op. So no op accesses
    memory before its size is checked.
  }];
  let statistics = [Statistic<"numMoved", "moved", "Ops that went up">];
}

def LowerReshapes : Pass<"nn-lower-reshapes", "::mlir::ModuleOp"> {
  let summary = "Replace dynamic reshapes by views";
  let description = [{
    A `tensor.reshape` does not say which dimensions become which. If the checks
    of `nn-require-sizes` tell this, the pass replaces it by
    `tensor.collapse_shape` and `tensor.expand_shape`. Elementwise operations
    and transposes are fused past these as past static reshapes. A reshape whose
    dimensions cannot all be grouped stays.
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"numLowered", "lowered", "Reshapes that became views">];
}

def RecognizeSlices : Pass<"nn-recognize-slices", "::mlir::ModuleOp"> {
  let summary = "Replace scatters that write slices";
  let description = [{
    Exporters write `x[:, 1:, 2:5] = y` as a ScatterND whose indices are ranges,
    expanded to all elements of the slice and concatenated. They take eight
    bytes for each coordinate of each element. If all coordinates count in the
    order of the dimensions, the pass replaces the op by `tensor.insert_slice`,
    which is done in place. It also replaces a ScatterElements whose indices
    count along its axis.

    If an index is constant and its dimension is dynamic, a check at run time
    requires the index to be in bounds.

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
  let summary = "Report checks that fail in every run";
  let description = [{
    Reports an `ingot.require` in the function's block whose condition is known
    to be false. The error has the message that each run would end with. Each
    node is reported once.
  }];
}

def RequireSizes : Pass<"nn-require-sizes", "::mlir::ModuleOp"> {
  let summary = "Add run-time checks for sizes that may not fit";
  let description = [{
    Evaluates the size rules of every nn op (`SizesOpInterface`) on symbolic
    sizes. A rule that is proved is dropped; a rule that cannot hold is an
    error. Every other rule becomes an `ingot.require`. It is at the entry of
    the function if it depends only on the sizes of the function's arguments,
    else before the op. Argument dimensions of the same name must be equal.

    The module attribute `ingot.size_rules` has the number of both kinds.
  }];
  let dependentDialects = ["::ingot::IngotDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"numProved", "proved", "Rules that hold for all sizes">,
    Statistic<"numChecked", "checked", "Rules that are checked in the run">];
}

def NameSizes : Pass<"nn-name-sizes", "::mlir::func::FuncOp"> {
  let summary = "Name dynamic dimensions of results like those of arguments";
  let description = [{
    A dimension of a result without a name takes the name of the first argument
    dimension that has the same size in every run. Names come from the model
    (`ingot.dim_names`), and equal sizes from `nn-require-sizes`. The pass is
    needed because ONNX's own inference drops names at many operators.
  }];
  let statistics = [Statistic<"numNamed", "named", "Dimensions named">];
}

#endif // INGOT_PASSES_SHAPE_PASSES_TD
