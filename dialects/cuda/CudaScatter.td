//===- CudaScatter.td - updates of elements ----------------*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_CUDA_CUDASCATTER_TD
#define INGOT_DIALECTS_CUDA_CUDASCATTER_TD

// CudaOps.td includes this file after it has defined the dialect.

def Cuda_SortOp : Op<Cuda_Dialect, "sort", [
    DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<KernelOpInterface>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "sort of unsigned integers of 64 bits, in place";
  let description = [{
    Sorts `items`, which must differ from each other. `spare` is memory for the
    sort, whose elements have no meaning before and after.

    Constraints:
    - C1: items and spare are of i64 and have rank 1 and one size, which may be
      open

    Example:
    ```mlir
    %sorted, %rest = cuda.sort
        outs(%items, %spare : tensor<99xi64>, tensor<99xi64>)
        -> tensor<99xi64>, tensor<99xi64>
    ```
  }];
  let arguments = (ins Cuda_Value:$items, Cuda_Value:$spare);
  let results = (outs Variadic<RankedTensorOf<[AnyType]>>:$results);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return ::mlir::MutableOperandRange(getOperation(), 0, 2);
    }
    bool isLaunched() { return true; }
  }];
  let assemblyFormat = [{
    `outs` `(` $items `,` $spare `:` type($items) `,` type($spare) `)`
    attr-dict (`->` type($results)^)?
  }];
}

def Cuda_ScatterOp : Op<Cuda_Dialect, "scatter", [
    DestinationStyleOpInterface, SingleBlock,
    DeclareOpInterfaceMethods<KernelOpInterface>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "updates of slices, in the order of the updates";
  let description = [{
    Dst is `P, S`: P positions, each with a slice of S elements. Updates is
    `U, S`. An item has a position in its 32 high bits, and the number of an
    update in its 32 low bits. The update changes the elements at the position:
    the region has an old element and that of the update, and yields the new
    element. Updates of one position are made in the order of their numbers. An
    item whose position is not below P has no effect.

    Items of rank 1 are sorted. Items of rank 3, `O, J, I`, are not: only items
    that have equal first and last indices may have one position, and their
    numbers grow with the second index.

    Constraints:
    - C1: items are of i64 and have rank 1 or 3; with rank 3, J and I are known
    - C2: updates and dst have rank 2, one element type and one S
    - C3: the region has two arguments of the element type, and yields a value
      of this type

    Example:
    ```mlir
    %y = cuda.scatter ins(%items, %u : tensor<1x4x1xi64>, tensor<4x8xf32>)
        outs(%x : tensor<100x8xf32>) {
    ^bb0(%old: f32, %update: f32):
      %sum = arith.addf %old, %update : f32
      cuda.yield %sum : f32
    } -> tensor<100x8xf32>
    ```
  }];
  let arguments = (ins Cuda_Value:$items, Cuda_Value:$updates, Cuda_Value:$dst);
  let results = (outs Optional<RankedTensorOf<[AnyType]>>:$result);
  let regions = (region SizedRegion<1>:$combiner);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getDstMutable(); }
    bool isLaunched() { return true; }
    /// Returns true if an update replaces the old element.
    bool isReplacing();
  }];
  let assemblyFormat = [{
    `ins` `(` $items `,` $updates `:` type($items) `,` type($updates) `)`
    `outs` `(` $dst `:` type($dst) `)` attr-dict-with-keyword $combiner
    (`->` type($result)^)?
  }];
}

#endif // INGOT_DIALECTS_CUDA_CUDASCATTER_TD
