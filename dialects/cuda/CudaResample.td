//===- CudaResample.td - resampling ------------------------*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_CUDA_CUDARESAMPLE_TD
#define INGOT_DIALECTS_CUDA_CUDARESAMPLE_TD

// CudaOps.td includes this file after CudaRows.td.

def Cuda_ResampleOp : Op<Cuda_Dialect, "resample", [
    AttrSizedOperandSegments, EpilogueOpInterface, DestinationStyleOpInterface,
    SingleBlock,
    DeclareOpInterfaceMethods<KernelOpInterface,
                              ["getKernelClass", "getKernelKind"]>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "interpolation along neighbouring dimensions";
  let description = [{
    Resamples `first` and the following dimensions, one per element of
    `positions`; their size is D in src and E in dst. At most one dimension, of
    channels, is behind them. Each of `positions` is `T, E` of i32 and holds the
    positions in src of the T taps of each element of dst. Each of `weights` is
    `T, E` of f32 and holds the factor of each tap; without weights, T is 1:

    `dst[…, e1…en, c] = over t1…tn of the sum of weights1[t1, e1] ⋯
    weightsn[tn, en] src[…, positions1[t1, e1], …, positionsn[tn, en], c]`

    and then the epilogue. The sum is that of the last dimension first, in f32.
    Positions are within src.

    A row of the schedule is a vector of neighboring channels. A thread computes
    one row and holds nothing.

    Constraints:
    - C1: src and dst have one rank of 1 or more: the dimensions before `first`,
      1 to 3 resampled dimensions, and at most one dimension of channels
    - C2: other dimensions of src and dst are equal; all may be open
    - C3: positions and weights have rank 2 and one T, with 1 to 16 taps for all
      dimensions together; there are as many weights as positions, or none
    - C4: positions are of i32, weights of f32
    - C5: src is of f32, f16 or bf16
    - C6: the epilogue has an argument for the sum, of f32, and for each operand
    - C7: the vectors of the schedule divide the channels; without channels, or
      with an open number of them, they have one element
    - C8: the schedule has one thread for a row, which holds no vectors

    Example:
    ```mlir
    %y = cuda.resample ins(%x : tensor<1x4x4x8xf32>)
        positions(%p, %q : tensor<2x8xi32>, tensor<2x6xi32>)
        weights(%v, %w : tensor<2x8xf32>, tensor<2x6xf32>)
        outs(%d : tensor<1x8x6x8xf32>) attributes {first = 1 : i64} {
    ^bb0(%sum: f32):
      cuda.yield %sum : f32
    } -> tensor<1x8x6x8xf32>
    ```
  }];
  let arguments = (ins Cuda_Value:$src, Variadic<Cuda_Value>:$positions,
                       Variadic<Cuda_Value>:$weights,
                       Variadic<Cuda_Value>:$epilogue_operands, Cuda_Value:$dst,
                       I64Attr:$first,
                       OptionalAttr<Cuda_RowScheduleAttr>:$schedule);
  let results = (outs Optional<RankedTensorOf<[AnyType]>>:$result);
  let regions = (region SizedRegion<1>:$epilogue);
  let hasVerifier = 1;
  let extraClassDeclaration = resampleDeclarations # [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getDstMutable(); }
    bool isLaunched() { return true; }
    /// Returns true if an epilogue can read the type.
    static bool canEpilogueRead(::mlir::Type element) {
      return ::ingot::cuda::canEpilogueRead(element);
    }
  }];
  let assemblyFormat = [{
    `ins` `(` $src `:` type($src) `)`
    `positions` `(` $positions `:` type($positions) `)`
    (`weights` `(` $weights^ `:` type($weights) `)`)?
    (`operands` `(` $epilogue_operands^ `:` type($epilogue_operands) `)`)?
    `outs` `(` $dst `:` type($dst) `)` attr-dict-with-keyword
    $epilogue (`->` type($result)^)?
  }];
}

#endif // INGOT_DIALECTS_CUDA_CUDARESAMPLE_TD
