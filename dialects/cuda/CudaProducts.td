//===- CudaProducts.td - products of matrices --------------*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_CUDA_CUDAPRODUCTS_TD
#define INGOT_DIALECTS_CUDA_CUDAPRODUCTS_TD

// CudaOps.td includes this file after it has defined the dialect.

def Cuda_ScheduleAttr : AttrDef<Cuda_Dialect, "Schedule"> {
  let mnemonic = "schedule";
  let summary = "the tiles of a product, and the widths of its accesses";
  let description = [{
    A block computes `rows` by `columns` elements of the result, and each of its
    warps `warp_rows` by `warp_columns` of them. Shared memory holds `stages`
    pairs of tiles of both factors. A tile has `depth` bytes of each row, which
    asynchronous copies fill while older tiles are multiplied.

    `src_bytes` and `weights_bytes` are the bytes of a copy from global to
    shared memory. A copy of 2 bytes goes through a register. `stored` is the
    number of neighboring elements that a thread loads, computes and stores
    together in the epilogue.

    Constraints:
    - C1: all sizes are powers of two; `rows` is a multiple of `warp_rows`,
      `columns` of `warp_columns`
    - C2: warps have 16 or more rows and columns, and threads at most 128 sums
    - C3: a block has at most 512 threads
    - C4: depth is 64 or 128 bytes; there are 2 to 8 stages
    - C5: copies have 2, 4, 8 or 16 bytes; at most 16 elements are stored
      together, but not more than a row of the tile has
    - C6: the tiles, and the sums of a block, fit into shared memory

    Example:
    ```mlir
    #cuda.schedule<rows = 128, columns = 64, warp_rows = 32,
                   warp_columns = 32, depth = 64, stages = 3,
                   src_bytes = 16, weights_bytes = 16, stored = 4>
    ```
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$columns,
                        "int64_t":$warp_rows, "int64_t":$warp_columns,
                        "int64_t":$depth, "int64_t":$stages,
                        "int64_t":$src_bytes, "int64_t":$weights_bytes,
                        "int64_t":$stored);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getThreads() const;
    /// Returns the distance of two rows of sums in shared memory, in elements.
    int64_t getSumStride() const;
    /// Returns the bytes of shared memory of a block.
    int64_t getSharedBytes() const;
  }];
}

def Cuda_Value
    : AnyTypeOf<[RankedTensorOf<[AnyType]>, StridedMemRefOf<[AnyType]>],
                "ranked tensor or memref">;

class Cuda_ProductOp<string mnemonic>
    : Op<Cuda_Dialect, mnemonic, [
          EpilogueOpInterface, DestinationStyleOpInterface, SingleBlock,
          DeclareOpInterfaceMethods<KernelOpInterface, ["getKernelKind"]>,
          DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  dag productArguments = (ins Cuda_Value:$src, Cuda_Value:$weights,
                              Variadic<Cuda_Value>:$epilogue_operands,
                              Cuda_Value:$dst);
  dag scheduleArguments = (ins UnitAttr:$tf32,
                               DefaultValuedAttr<I64Attr, "1">:$parts,
                               OptionalAttr<Cuda_ScheduleAttr>:$schedule);
  let results = (outs Optional<RankedTensorOf<[AnyType]>>:$result);
  let regions = (region SizedRegion<1>:$epilogue);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getDstMutable(); }
    bool isLaunched() { return true; }
    ::ingot::kernel::KernelClass getKernelClass() {
      return ::ingot::kernel::KernelClass::product;
    }
    ::mlir::Type getProductType() {
      if (getTf32())
        return ::mlir::FloatTF32Type::get(getContext());
      return ::mlir::getElementTypeOrSelf(getSrc());
    }
    /// Returns true if an epilogue can read the type.
    static bool canEpilogueRead(::mlir::Type element) {
      return ::ingot::cuda::canEpilogueRead(element);
    }
  }];
  let assemblyFormat = [{
    `ins` `(` $src `,` $weights `:` type($src) `,` type($weights) `)`
    (`operands` `(` $epilogue_operands^ `:` type($epilogue_operands) `)`)?
    `outs` `(` $dst `:` type($dst) `)` attr-dict-with-keyword
    $epilogue (`->` type($result)^)?
  }];
}

def Cuda_MatMulOp : Cuda_ProductOp<"matmul"> {
  let summary = "batched matrix product";
  let description = [{
    `dst[…, i, j] = sum over k of src[…, i, k] weights[…, j, k]`, then the
    epilogue. Src is `…, M, K`, dst `…, M, N`. Weights are `N, K'` for all
    batches, or have the batch dimensions of src. `K'` is K, or more: the
    elements behind K are not used. Factors are of f32, f16 or bf16, and sums of
    f32. With `tf32`, factors of f32 are rounded to tf32, 10 bits of fraction,
    and multiplied by matrix units.

    With several `parts`, dst has a dimension of that size in front. Its
    elements are the sums over one part of the depth each, and `cuda.sum_parts`
    adds them up (split-k). So more blocks share the depth of a small result.

    Constraints:
    - C1: src and dst have one rank of 2 or more, weights have rank 2 or the
      same rank
    - C2: sizes with one letter agree, if they are static; several parts imply
      that all are
    - C3: src and weights have one element type: f32, f16 or bf16; with `tf32`
      it is f32
    - C4: the epilogue has an argument for the sum, of f32, and for each operand
    - C5: parts is 1 to 64; with several, dst is of f32, and the epilogue yields
      the sum

    Example:
    ```mlir
    %y = cuda.matmul ins(%x, %w : tensor<7x24xf32>, tensor<10x24xf32>)
        operands(%b : tensor<1x10xf32>) outs(%d : tensor<7x10xf32>) {
    ^bb0(%sum: f32, %bias: f32):
      %0 = arith.addf %sum, %bias : f32
      cuda.yield %0 : f32
    } -> tensor<7x10xf32>
    ```
  }];
  let arguments = !con(productArguments, scheduleArguments);
}

def Cuda_ConvOp : Cuda_ProductOp<"conv"> {
  let summary = "n-dimensional convolution as a product of matrices";
  let description = [{
    `nn.conv` on channels-last data. Src is `N, D1…Dn, C`, dst `N, E1…En, O`. A
    row of weights, `O, K'`, has the `C / groups` channels of the first tap,
    then those of the next tap. `K'` is the number of these elements, or
    more: the elements behind them are not used. Pads lists all begins, then all
    ends; a dilation of 1 is dense. Padding is 0.

    Several `parts` are those of `cuda.matmul`.

    Constraints, besides C3 to C5 of `cuda.matmul`:
    - C1: src and dst have one rank of 3 to 5, weights rank 2
    - C2: taps, strides and dilations have rank - 2 elements of 1 or more, pads
      twice as many of 0 or more
    - C6: N, D and E may be open, other sizes are static; dst has as many
      windows as fit into src and its padding
    - C7: groups divides C and O

    Example:
    ```mlir
    %y = cuda.conv ins(%x, %w : tensor<1x8x8x16xf16>, tensor<4x144xf16>)
        outs(%d : tensor<1x8x8x4xf32>)
        attributes {taps = array<i64: 3, 3>, strides = array<i64: 1, 1>,
                    pads = array<i64: 1, 1, 1, 1>,
                    dilations = array<i64: 1, 1>} {
    ^bb0(%sum: f32):
      cuda.yield %sum : f32
    } -> tensor<1x8x8x4xf32>
    ```
  }];
  let arguments = !con(productArguments,
                       (ins DenseI64ArrayAttr:$taps,
                            DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                            DenseI64ArrayAttr:$dilations,
                            DefaultValuedAttr<I64Attr, "1">:$groups),
                       scheduleArguments);
}

def Cuda_DepthwiseConvOp : Op<Cuda_Dialect, "depthwise_conv", [
    EpilogueOpInterface, DestinationStyleOpInterface, SingleBlock,
    DeclareOpInterfaceMethods<KernelOpInterface, ["getKernelKind"]>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "n-dimensional convolution of each channel";
  let description = [{
    `nn.conv` on channels-last data with as many groups as src has channels. Src
    is `N, D1…Dn, C`, weights are `K1…Kn, M C`, dst is `N, E1…En, M C`. Each
    channel of src gives M neighboring channels of dst. Factors are of f32, f16
    or bf16, and sums of f32. Pads, strides and dilations are those of
    `cuda.conv`.

    Constraints:
    - C1: src and dst have one rank of 3 to 5, weights one dimension less;
      weights and dst have the same channels, a multiple of those of src
    - C2: strides and dilations have rank - 2 elements of 1 or more, pads twice
      as many of 0 or more; there are 1 to 64 taps
    - C3: N, D and E may be open, other sizes are static; dst has as many
      windows as fit into src and its padding
    - C4: src and weights have one element type: f32, f16 or bf16
    - C5: the epilogue has an argument for the sum, of f32, and for each operand

    Example:
    ```mlir
    %y = cuda.depthwise_conv
        ins(%x, %w : tensor<1x8x8x16xf16>, tensor<3x3x16xf16>)
        outs(%d : tensor<1x8x8x16xf32>)
        attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>,
                    dilations = array<i64: 1, 1>} {
    ^bb0(%sum: f32):
      cuda.yield %sum : f32
    } -> tensor<1x8x8x16xf32>
    ```
  }];
  let arguments = (ins Cuda_Value:$src, Cuda_Value:$weights,
                       Variadic<Cuda_Value>:$epilogue_operands, Cuda_Value:$dst,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                       DenseI64ArrayAttr:$dilations);
  let results = (outs Optional<RankedTensorOf<[AnyType]>>:$result);
  let regions = (region SizedRegion<1>:$epilogue);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The most taps: the kernel has code for each.
    static constexpr int64_t kMaxTaps = 64;
    ::llvm::ArrayRef<int64_t> getTaps() {
      return ::mlir::cast<::mlir::ShapedType>(getWeights().getType())
          .getShape().drop_back();
    }
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getDstMutable(); }
    bool isLaunched() { return true; }
    ::ingot::kernel::KernelClass getKernelClass() {
      return ::ingot::kernel::KernelClass::product;
    }
    ::mlir::Type getProductType() {
      return ::mlir::getElementTypeOrSelf(getSrc());
    }
    /// Returns true if an epilogue can read the type.
    static bool canEpilogueRead(::mlir::Type element) {
      return ::ingot::cuda::canEpilogueRead(element);
    }
  }];
  let assemblyFormat = [{
    `ins` `(` $src `,` $weights `:` type($src) `,` type($weights) `)`
    (`operands` `(` $epilogue_operands^ `:` type($epilogue_operands) `)`)?
    `outs` `(` $dst `:` type($dst) `)` attr-dict-with-keyword
    $epilogue (`->` type($result)^)?
  }];
}

def Cuda_SumPartsOp : Op<Cuda_Dialect, "sum_parts", [
    EpilogueOpInterface, DestinationStyleOpInterface, SingleBlock,
    DeclareOpInterfaceMethods<KernelOpInterface, ["getKernelKind"]>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "sum of the parts of a product";
  let description = [{
    `dst[…] = sum over p of src[p, …]`, in the order of p, then the epilogue.
    Src has the parts of a product.

    Constraints:
    - C1: src is of f32; its sizes behind the first are those of dst, all static
    - C2: the epilogue has an argument for the sum, of f32, and for each operand

    Example:
    ```mlir
    %y = cuda.sum_parts ins(%p : tensor<4x7x10xf32>)
        operands(%b : tensor<1x10xf32>) outs(%d : tensor<7x10xf16>) {
    ^bb0(%sum: f32, %bias: f32):
      %0 = arith.addf %sum, %bias : f32
      %1 = arith.truncf %0 : f32 to f16
      cuda.yield %1 : f16
    } -> tensor<7x10xf16>
    ```
  }];
  let arguments = (ins Cuda_Value:$src, Variadic<Cuda_Value>:$epilogue_operands,
                       Cuda_Value:$dst);
  let results = (outs Optional<RankedTensorOf<[AnyType]>>:$result);
  let regions = (region SizedRegion<1>:$epilogue);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getDstMutable(); }
    bool isLaunched() { return true; }
    bool readsOnlyF32() { return true; }
    /// Returns the class of the product, whose result it stores.
    ::ingot::kernel::KernelClass getKernelClass() {
      return ::ingot::kernel::KernelClass::product;
    }
    /// Returns true if an epilogue can read the type.
    static bool canEpilogueRead(::mlir::Type element) {
      return ::ingot::cuda::canEpilogueRead(element);
    }
  }];
  let assemblyFormat = [{
    `ins` `(` $src `:` type($src) `)`
    (`operands` `(` $epilogue_operands^ `:` type($epilogue_operands) `)`)?
    `outs` `(` $dst `:` type($dst) `)` attr-dict-with-keyword
    $epilogue (`->` type($result)^)?
  }];
}

def Cuda_YieldOp
    : Op<Cuda_Dialect, "yield",
         [Pure, ReturnLike, Terminator,
          ParentOneOf<["AttentionOp", "ConvOp", "DepthwiseConvOp",
                       "GroupNormOp", "MatMulOp", "MomentsOp", "NormalizeOp",
                       "PoolOp", "RecurrentOp", "ReduceOp", "ResampleOp",
                       "RowNormOp", "ScatterOp", "SoftmaxOp", "SumPartsOp"]>]> {
  let summary = "yields the values that a kernel stores";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

#endif // INGOT_DIALECTS_CUDA_CUDAPRODUCTS_TD
