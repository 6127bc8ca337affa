//===- CudaScan.td - running sums --------------------------*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_CUDA_CUDASCAN_TD
#define INGOT_DIALECTS_CUDA_CUDASCAN_TD

// CudaOps.td includes this file after it has defined the dialect.

def Cuda_ScanOp : Op<Cuda_Dialect, "scan", [
    DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<KernelOpInterface>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "running sum, or product, of the second dimension";
  let description = [{
    Src and dst are `R, L, C`. `dst[r, l, c] = over k to l of src[r, k, c]`.
    `exclusive` leaves out the element itself, and `reverse` runs from the end.
    Floats of 16 bits have sums of f32. The order of a sum depends on the sizes
    that the compiler knows, and on nothing else.

    Constraints:
    - C1: src and dst have one type, of rank 3, whose sizes may be open
    - C2: the elements are integers, or floats of 16 bits or more

    Example:
    ```mlir
    %y = cuda.scan ins(%x : tensor<2x100x3xf32>) outs(%d : tensor<2x100x3xf32>)
        {exclusive} -> tensor<2x100x3xf32>
    ```
  }];
  let arguments = (ins Cuda_Value:$src, Cuda_Value:$dst, UnitAttr:$exclusive,
                       UnitAttr:$reverse, UnitAttr:$product);
  let results = (outs Optional<RankedTensorOf<[AnyType]>>:$result);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getDstMutable(); }
    bool isLaunched() { return true; }
  }];
  let assemblyFormat = [{
    `ins` `(` $src `:` type($src) `)` `outs` `(` $dst `:` type($dst) `)`
    attr-dict (`->` type($result)^)?
  }];
}

#endif // INGOT_DIALECTS_CUDA_CUDASCAN_TD
