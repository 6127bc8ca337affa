//===- CudaReductions.td - reductions and poolings ---------*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_CUDA_CUDAREDUCTIONS_TD
#define INGOT_DIALECTS_CUDA_CUDAREDUCTIONS_TD

// CudaOps.td includes this file after CudaRows.td.

def Cuda_ReduceKind : I32EnumAttr<"ReduceKind", "what a reduction computes", [
    I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"mean", 1>,
    I32EnumAttrCase<"max", 2>, I32EnumAttrCase<"min", 3>,
    I32EnumAttrCase<"prod", 4>, I32EnumAttrCase<"sum_square", 5>]> {
  let cppNamespace = "::ingot::cuda";
}

def Cuda_PoolKind : I32EnumAttr<"PoolKind", "what a pooling computes", [
    I32EnumAttrCase<"max", 0>, I32EnumAttrCase<"mean", 1>,
    I32EnumAttrCase<"mean_with_pads", 2>]> {
  let cppNamespace = "::ingot::cuda";
}

def Cuda_ReduceOp : Cuda_RowOp<"reduce", "$kind "> {
  let summary = "reduction of the last dimension but one";
  let description = [{
    `dst[…, c] = over r of src[…, r, c]`, then the epilogue. Src is of f32, f16
    or bf16; all else is computed in f32. The maximum or minimum of elements
    with a NaN is NaN.

    Constraints:
    - C1: src has rank 2 or more, and dst its sizes without that of r
    - C2: the number of columns is static; that of r may be open, but is not 0
    - C3: src is of f32, f16 or bf16
    - C4: the epilogue has an argument for the result, of f32, and for each
      operand
    - C5: the vectors of the schedule divide the columns, and the held ones are
      none or hold a row

    Example:
    ```mlir
    %y = cuda.reduce mean ins(%x : tensor<2x49x64xf16>)
        outs(%d : tensor<2x64xf32>) {
    ^bb0(%mean: f32):
      cuda.yield %mean : f32
    } -> tensor<2x64xf32>
    ```
  }];
  let arguments = !con((ins Cuda_ReduceKind:$kind), rowArguments,
                       scheduleArguments);
}

def Cuda_PoolOp : Cuda_RowOp<"pool", "$kind "> {
  let summary = "maximum or mean over windows";
  let description = [{
    Src is `N, D1…Dn, C`, dst `N, E1…En, C`. A window's elements in the padding
    are left out. `mean` divides by the number of the other elements,
    `mean_with_pads` by the size of the window. If a window has only padding,
    its maximum is -infinity and its mean is 0. The maximum of elements with a
    NaN is NaN.

    Constraints:
    - C1: src and dst have one rank of 3 to 5, and C is the same in both
    - C2: taps, strides and dilations have rank - 2 elements of 1 or more, pads
      twice as many of 0 or more
    - C3: N, D and E may be open; dst has as many windows as fit into src and
      its padding
    - C4: src is of f32, f16 or bf16
    - C5: the epilogue has an argument for the result, of f32, and for each
      operand
    - C6: the vectors of the schedule divide C, and the held ones are none or
      hold a window

    Example:
    ```mlir
    %y = cuda.pool max ins(%x : tensor<1x8x8x16xf32>)
        outs(%d : tensor<1x4x4x16xf32>)
        attributes {taps = array<i64: 3, 3>, strides = array<i64: 2, 2>,
                    pads = array<i64: 1, 1, 1, 1>,
                    dilations = array<i64: 1, 1>} {
    ^bb0(%max: f32):
      cuda.yield %max : f32
    } -> tensor<1x4x4x16xf32>
    ```
  }];
  let arguments = !con((ins Cuda_PoolKind:$kind), rowArguments,
                       (ins DenseI64ArrayAttr:$taps, DenseI64ArrayAttr:$strides,
                            DenseI64ArrayAttr:$pads,
                            DenseI64ArrayAttr:$dilations),
                       scheduleArguments);
}

#endif // INGOT_DIALECTS_CUDA_CUDAREDUCTIONS_TD
