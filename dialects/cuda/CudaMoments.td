//===- CudaMoments.td - norms of groups in two steps -------*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_CUDA_CUDAMOMENTS_TD
#define INGOT_DIALECTS_CUDA_CUDAMOMENTS_TD

// CudaOps.td includes this file after CudaRows.td.

def Cuda_MomentsOp : Cuda_RowOp<"moments"> {
  let summary = "mean and variance of groups of channels of each sample";
  let description = [{
    Src is `N, S, C`, dst `N, groups, 2`: the mean of a group, and the mean of
    the squares of `x - mean`. Rows are those of `cuda.group_norm`.

    Constraints:
    - C1: src has rank 3 and static sizes, and groups divides C
    - C2: dst is `N, groups, 2` of f32, and the epilogue yields its argument
    - C3: src is of f32, f16 or bf16
    - C4: the vectors of the schedule divide the channels of a group, and the
      held ones are none or hold a row

    Example:
    ```mlir
    %m = cuda.moments ins(%x : tensor<8x49x64xf32>)
        outs(%d : tensor<8x4x2xf32>) attributes {groups = 4 : i64} {
    ^bb0(%m: f32):
      cuda.yield %m : f32
    } -> tensor<8x4x2xf32>
    ```
  }];
  let arguments = !con(rowArguments, (ins I64Attr:$groups), scheduleArguments);
}

def Cuda_NormalizeOp : Op<Cuda_Dialect, "normalize", [
    EpilogueOpInterface, DestinationStyleOpInterface, SingleBlock,
    DeclareOpInterfaceMethods<KernelOpInterface,
                              ["getKernelClass", "getKernelKind"]>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "normalization of groups of channels whose moments are known";
  let description = [{
    `(x - mean) / sqrt(variance + epsilon)`, then the epilogue. Src and dst are
    `N, S, C`. Each `parts` neighboring samples are normalized together. Their
    moments are those of `cuda.moments`, `N, groups, 2`, which are combined in
    order (Chan et al., Updating formulae for computing sample variances, 1979).

    Constraints:
    - C1: src has rank 3 and static sizes; groups divides C and parts divides N
    - C2: dst has the shape of src, and moments is `N, groups, 2` of f32
    - C3: src is of f32, f16 or bf16
    - C4: the epilogue has an argument for the result, of f32, and for each
      operand
    - C5: the vectors of the schedule divide the channels of a group, and the
      held ones are none or hold a row

    Example:
    ```mlir
    %y = cuda.normalize
        ins(%x, %m : tensor<8x49x64xf32>, tensor<8x4x2xf32>)
        outs(%d : tensor<8x49x64xf32>)
        attributes {groups = 4 : i64, parts = 8 : i64, epsilon = 1.0e-5 : f32} {
    ^bb0(%n: f32):
      cuda.yield %n : f32
    } -> tensor<8x49x64xf32>
    ```
  }];
  let arguments = (ins Cuda_Value:$src, Cuda_Value:$moments,
                       Variadic<Cuda_Value>:$epilogue_operands, Cuda_Value:$dst,
                       I64Attr:$groups, I64Attr:$parts, F32Attr:$epsilon,
                       OptionalAttr<Cuda_RowScheduleAttr>:$schedule);
  let results = (outs Optional<RankedTensorOf<[AnyType]>>:$result);
  let regions = (region SizedRegion<1>:$epilogue);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getDstMutable(); }
    bool isLaunched() { return true; }
    /// Returns true if an epilogue can read the type.
    static bool canEpilogueRead(::mlir::Type element) {
      return ::ingot::cuda::canEpilogueRead(element);
    }
  }];
  let assemblyFormat = [{
    `ins` `(` $src `,` $moments `:` type($src) `,` type($moments) `)`
    (`operands` `(` $epilogue_operands^ `:` type($epilogue_operands) `)`)?
    `outs` `(` $dst `:` type($dst) `)` attr-dict-with-keyword
    $epilogue (`->` type($result)^)?
  }];
}

#endif // INGOT_DIALECTS_CUDA_CUDAMOMENTS_TD
