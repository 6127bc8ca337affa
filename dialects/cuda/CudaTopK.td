//===- CudaTopK.td - the best elements of rows -------------*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_CUDA_CUDATOPK_TD
#define INGOT_DIALECTS_CUDA_CUDATOPK_TD

// CudaOps.td includes this file after it has defined the dialect.

def Cuda_TopKOp : Op<Cuda_Dialect, "top_k", [
    DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<KernelOpInterface, ["getKernelKind"]>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "the k largest, or smallest, elements of each row, sorted";
  let description = [{
    Src is `N, L`. Values and indices are `N, k`: the elements of a row, and
    their positions. Equal elements keep the order of their positions, -0 equals
    0, and NaN is greater than all numbers. `is_unsigned` is the sign of
    integers.

    Constraints:
    - C1: src and values are of one type, of integers or of floats of 16 bits or
      more, and indices of i64; all have rank 2 and the same number of rows,
      which may be open
    - C2: values and indices have the same k; if it is open, `most` is the
      largest one
    - C3: the largest k is 1 to 4,096, and at most L if L is known

    Example:
    ```mlir
    %v, %i = cuda.top_k ins(%x : tensor<7x100xf32>)
        outs(%a, %b : tensor<7x5xf32>, tensor<7x5xi64>)
        -> tensor<7x5xf32>, tensor<7x5xi64>
    ```
  }];
  let arguments = (ins Cuda_Value:$src, Cuda_Value:$values, Cuda_Value:$indices,
                       UnitAttr:$smallest, UnitAttr:$is_unsigned,
                       OptionalAttr<I64Attr>:$most);
  let results = (outs Variadic<RankedTensorOf<[AnyType]>>:$results);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The most elements that are kept. A block sorts twice as many.
    static constexpr int64_t kMaxK = 4096;
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return ::mlir::MutableOperandRange(getOperation(), 1, 2);
    }
    bool isLaunched() { return true; }
    /// Returns the largest number of results of a row.
    int64_t mostResults();
  }];
  let assemblyFormat = [{
    `ins` `(` $src `:` type($src) `)`
    `outs` `(` $values `,` $indices `:` type($values) `,` type($indices) `)`
    attr-dict (`->` type($results)^)?
  }];
}

#endif // INGOT_DIALECTS_CUDA_CUDATOPK_TD
