//===- CudaAttention.td - attention ------------------------*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_CUDA_CUDAATTENTION_TD
#define INGOT_DIALECTS_CUDA_CUDAATTENTION_TD

// CudaOps.td includes this file after it has defined the dialect.

def Cuda_AttentionScheduleAttr : AttrDef<Cuda_Dialect, "AttentionSchedule"> {
  let mnemonic = "attention_schedule";
  let summary = "the tiles of an attention, and the widths of its accesses";
  let description = [{
    A block computes `rows` queries of one head, and each of its warps 16 of
    them. It takes `keys` keys and values in a step. Shared memory holds the
    queries, and `stages` pairs of tiles of keys and values.

    `src_bytes`, `keys_bytes` and `values_bytes` are the bytes of a copy from
    global to shared memory. A copy of 2 bytes goes through a register. `stored`
    is 2 if a thread stores pairs of elements, else 1.

    Constraints:
    - C1: `rows` is 16, 32, 64 or 128, `keys` 16, 32 or 64
    - C2: there are 2 to 4 stages
    - C3: copies have 2, 4, 8 or 16 bytes; 1 or 2 elements are stored together

    Example:
    ```mlir
    #cuda.attention_schedule<rows = 64, keys = 64, stages = 2, src_bytes = 16,
                             keys_bytes = 16, values_bytes = 16, stored = 2>
    ```
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$keys, "int64_t":$stages,
                        "int64_t":$src_bytes, "int64_t":$keys_bytes,
                        "int64_t":$values_bytes, "int64_t":$stored);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Queries of a warp.
    static constexpr int64_t kWarpRows = 16;
    int64_t getThreads() const;
    /// Returns the distance of two rows of a tile in shared memory, in bytes,
    /// for rows of `depth` elements. Eight neighboring rows have the same chunk
    /// of 16 bytes in different banks.
    static int64_t getRowBytes(int64_t depth, ::mlir::Type element);
    /// Returns the bytes of shared memory of a block, for queries of `depth`
    /// and values of `width` elements.
    int64_t getSharedBytes(int64_t depth, int64_t width,
                           ::mlir::Type element) const;
  }];
}

def Cuda_AttentionOp : Op<Cuda_Dialect, "attention", [
    EpilogueOpInterface, DestinationStyleOpInterface, SingleBlock,
    AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<KernelOpInterface, ["getKernelKind"]>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "scaled dot-product attention of several heads";
  let description = [{
    `dst[b, i, h, :] = sum over j of p[j] values[b, j, h, :]`, then the
    epilogue, with `p = softmax over j of (scale * src[b, i, h, :] · keys[b, j,
    h, :] + mask[b, h, j, i])`. Src is `B, M, H, D`, keys `B, N, H, D`, values
    `B, N, H, E`, dst `B, M, H, E`. The last dimension of the mask are the
    queries. Factors are of f32, f16 or bf16. Scores, their softmax and sums are
    of f32; the probabilities are rounded to the type of the values. With
    `safe`, a query whose probabilities are NaN gets zeros for any values.

    Scores are never stored in global memory (Dao, FlashAttention-2, 2023).

    Constraints:
    - C1: src, keys and values have rank 4, the sizes above and one element
      type: f32, f16 or bf16
    - C2: B, M and N may be open, other sizes are static; D and E are multiples
      of 16 of at most 128; N is not a known 0
    - C3: the mask is of f32; its sizes are those of B, H, M, or 1, and N
    - C4: the epilogue has an argument for the result, of f32, and for each
      operand
    - C5: the tiles of the schedule fit into shared memory

    Example:
    ```mlir
    %y = cuda.attention ins(%q, %k, %v : tensor<1x7x2x16xf16>,
            tensor<1x9x2x16xf16>, tensor<1x9x2x32xf16>)
        mask(%m : tensor<1x1x9x1xf32>) outs(%d : tensor<1x7x2x32xf32>)
        attributes {scale = 2.5e-1 : f32} {
    ^bb0(%sum: f32):
      cuda.yield %sum : f32
    } -> tensor<1x7x2x32xf32>
    ```
  }];
  let arguments = (ins Cuda_Value:$src, Cuda_Value:$keys, Cuda_Value:$values,
                       Optional<Cuda_Value>:$mask,
                       Variadic<Cuda_Value>:$epilogue_operands, Cuda_Value:$dst,
                       F32Attr:$scale, UnitAttr:$safe,
                       OptionalAttr<Cuda_AttentionScheduleAttr>:$schedule);
  let results = (outs Optional<RankedTensorOf<[AnyType]>>:$result);
  let regions = (region SizedRegion<1>:$epilogue);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The most elements of a head.
    static constexpr int64_t kMaxHeadSize = 128;
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getDstMutable(); }
    bool isLaunched() { return true; }
    /// Returns true because a mask of f32 stays f32.
    bool readsOnlyF32() { return true; }
    ::mlir::Type getProductType() {
      return ::mlir::getElementTypeOrSelf(getSrc());
    }
    /// Returns true if an epilogue can read the type.
    static bool canEpilogueRead(::mlir::Type element) {
      return ::ingot::cuda::canEpilogueRead(element);
    }
  }];
  let assemblyFormat = [{
    `ins` `(` $src `,` $keys `,` $values
    `:` type($src) `,` type($keys) `,` type($values) `)`
    (`mask` `(` $mask^ `:` type($mask) `)`)?
    (`operands` `(` $epilogue_operands^ `:` type($epilogue_operands) `)`)?
    `outs` `(` $dst `:` type($dst) `)` attr-dict-with-keyword
    $epilogue (`->` type($result)^)?
  }];
}

#endif // INGOT_DIALECTS_CUDA_CUDAATTENTION_TD
