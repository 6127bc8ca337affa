//===- CpuReductions.td - reductions, normalizations -------*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_CPU_CPUREDUCTIONS_TD
#define INGOT_DIALECTS_CPU_CPUREDUCTIONS_TD

// CpuOps.td includes this file after it has defined the classes used here.
include "mlir/IR/EnumAttr.td"

def Cpu_ReduceKind : I32EnumAttr<"ReduceKind", "what a reduction computes", [
    I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"mean", 1>,
    I32EnumAttrCase<"max", 2>, I32EnumAttrCase<"min", 3>,
    I32EnumAttrCase<"prod", 4>, I32EnumAttrCase<"sum_square", 5>,
    I32EnumAttrCase<"range", 6>]> {
  let cppNamespace = "::ingot::cpu";
}

def Cpu_PoolKind : I32EnumAttr<"PoolKind", "what a pooling computes", [
    I32EnumAttrCase<"max", 0>, I32EnumAttrCase<"mean", 1>,
    I32EnumAttrCase<"mean_with_pads", 2>]> {
  let cppNamespace = "::ingot::cpu";
}

/// A kernel without weights.
class Cpu_RowOp<string mnemonic, string before = "">
    : Cpu_ScheduledOp<mnemonic> {
  dag kernelArguments = (ins Cpu_Value:$src,
                             Variadic<Cpu_Value>:$epilogue_operands,
                             Cpu_Value:$dst);
  let assemblyFormat = before # [{
    `ins` `(` $src `:` type($src) `)`
    (`operands` `(` $epilogue_operands^ `:` type($epilogue_operands) `)`)?
    `outs` `(` $dst `:` type($dst) `)` attr-dict-with-keyword
    $epilogue (`->` type($result)^)?
  }];
}

def Cpu_ReduceOp : Cpu_RowOp<"reduce", "$kind "> {
  let summary = "reduction of the middle one of three dimensions";
  let description = [{
    `dst[a, c] = over r of src[a, r, c]`, then the epilogue. src is `A, R, C`,
    dst `A, C`. With C = 1 a row of contiguous elements is reduced. Sums of f32
    over more than a few elements are taken in f64, so that their error does not
    grow with their number. Src may be of unsigned bytes, which count as floats.

    The kind `range` has two results for each row: `max(0, max of src)` and
    `max(0, -min of src)`. Both are NaN if an element is NaN.

    Constraints:
    - C1: src has rank 3, dst rank 2; A and C are equal in both, but for `range`
      C is 1 in src and 2 in dst
    - C2: the epilogue has an argument for the result and for each operand
    - C3: src is of floats or bytes, the epilogue's first argument a float; for
      `range` src is of f32

    Example:
    ```mlir
    %y = cpu.reduce mean ins(%x : tensor<1x49x64xf32>)
        outs(%d : tensor<1x64xf32>) {
    ^bb0(%mean: f32):
      cpu.yield %mean : f32
    } -> tensor<1x64xf32>
    ```
  }];
  let arguments = !con((ins Cpu_ReduceKind:$kind), kernelArguments,
                       scheduleArguments);
  let extraClassDeclaration = baseDeclarations # [{
    /// Returns true if rows of contiguous elements are reduced.
    bool reducesRows() {
      auto type = ::mlir::cast<::mlir::ShapedType>(getSrc().getType());
      return type.getShape().back() == 1;
    }
  }];
}

def Cpu_SoftmaxOp : Cpu_RowOp<"softmax"> {
  let summary = "softmax along the last dimension, or the one before";
  let description = [{
    `e^(x - max) / sum of e^(x - max)`, or with `log` its logarithm, then the
    epilogue. With `columns`, the softmax is along the last dimension but one.

    Constraints:
    - C1: dst has the shape of src, of rank 1 or more, with `columns` 2 or more
    - C2: the epilogue has an argument for the result and for each operand
  }];
  let arguments = !con(kernelArguments, (ins UnitAttr:$log, UnitAttr:$columns),
                       scheduleArguments);
}

def Cpu_RowNormOp : Cpu_RowOp<"row_norm"> {
  let summary = "normalization along the last dimension";
  let description = [{
    `(x - mean) / sqrt(variance + epsilon)`, or with `rms` `x / sqrt(mean of x^2
    + epsilon)`, then the epilogue, which scales and shifts. Mean and variance
    are computed in separate passes.

    Constraints: those of `cpu.softmax`.
  }];
  let arguments = !con(kernelArguments, (ins F32Attr:$epsilon, UnitAttr:$rms),
                       scheduleArguments);
}

def Cpu_GroupNormOp : Cpu_RowOp<"group_norm"> {
  let summary = "normalization of groups of channels of each sample";
  let description = [{
    src and dst are `N, S, C`. Mean and variance are over the S positions of a
    sample and C / groups neighboring channels. Otherwise as `cpu.row_norm`.

    Constraints:
    - C1: src has rank 3 and dst its shape
    - C2: C is static, a multiple of groups
    - C3: the epilogue has an argument for the result and for each operand
  }];
  let arguments = !con(kernelArguments,
                       (ins I64Attr:$groups, F32Attr:$epsilon),
                       scheduleArguments);
}

def Cpu_PoolOp : Cpu_RowOp<"pool", "$kind "> {
  let summary = "maximum or mean over windows";
  let description = [{
    src is `N, D1…Dn, C`, dst `N, E1…En, C`. A window's elements in the padding
    are left out. `mean` divides by the number of the other elements,
    `mean_with_pads` by the size of the window. If a window has only padding,
    its maximum is -infinity and its mean is 0. The maximum of unsigned bytes is
    a byte, and 0 for a window of padding; their mean is a float.

    Constraints:
    - C1: src and dst have one rank of 3 to 5; batch and channels are equal
    - C2: kernel, strides and dilations have rank - 2 elements of 1 or more,
      pads twice as many of 0 or more
    - C3: C is static
    - C4: the epilogue has an argument for the result and for each operand
    - C5: a mean is of floats or unsigned bytes, the epilogue's first argument a
      float
  }];
  let arguments = !con((ins Cpu_PoolKind:$kind), kernelArguments,
                       (ins DenseI64ArrayAttr:$kernel,
                            DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                            DenseI64ArrayAttr:$dilations),
                       scheduleArguments);
}

def Cpu_PackSignsOp : Cpu_RowOp<"pack_signs"> {
  let summary = "packs values -1, 0 and 1 as bits";
  let description = [{
    Packs src, `…, C` of bytes, for products with `sign_channels = C`. Each byte
    is `zero_point`, one less or one more. dst is `…, W` of i32 with `W = 2
    ceil(C / 32) + 1`, as `Signs.h` describes. The epilogue stores the i32
    elements unchanged.

    Constraints:
    - C1: src has rank 1 or more and is of ui8; C is static
    - C2: dst is of i32 and has src's sizes, except for the last, which is W
    - C3: zero_point is 0 to 255
    - C4: the epilogue yields its argument

    Example:
    ```mlir
    %y = cpu.pack_signs ins(%x : tensor<1x8x8x64xi8>)
        outs(%d : tensor<1x8x8x5xi32>) attributes {zero_point = 128 : i64} {
    ^bb0(%word: i32):
      cpu.yield %word : i32
    } -> tensor<1x8x8x5xi32>
    ```
  }];
  let arguments = !con(kernelArguments, (ins I64Attr:$zero_point),
                       scheduleArguments);
}

def Cpu_RoundBlocksOp : Cpu_RowOp<"round_blocks"> {
  let summary = "quantizes blocks of rows to bytes, each with a scale";
  let description = [{
    Quantizes src, `…, K` of f32, for `cpu.packed_matmul`. Each block of
    `block_size` elements of a row gives `W = 2 + block_size / 4` elements of
    i32. The first holds the scale, `m / 127` as f32, where m is the block's
    largest magnitude, but at least `127 / 2^126`. The second is `factor` times
    the sum of the block's bytes. The bytes follow, four per i32: elements times
    `127 / m`, rounded to nearest, ties to even. They are 0 behind the last
    element.

    If `W = 4 + 3 block_size / 4`, an element of src takes three digits: signed
    bytes d0, d1 and d2 for the number d0 + 2^8 d1 + 2^16 d2. The scale is then
    `m / (2^23 - 2^15 - 2^7 - 1)`. A term for each digit follows the scale, then
    the bytes of each digit.

    A NaN makes the scale NaN. An infinity makes it infinite and becomes the
    largest number, with the largest float as m for the bytes. The epilogue
    stores the i32 elements unchanged.

    Constraints:
    - C1: src has rank 1 or more and is of f32; K is static
    - C2: block_size is a multiple of 4
    - C3: dst is of i32 and has src's sizes, except for the last, which is
      `ceil(K / block_size) W` for one of both W
    - C4: the epilogue yields its argument

    Example:
    ```mlir
    %y = cpu.round_blocks ins(%x : tensor<3x64xf32>)
        outs(%d : tensor<3x20xi32>)
        attributes {block_size = 32 : i64, factor = -8 : i64} {
    ^bb0(%word: i32):
      cpu.yield %word : i32
    } -> tensor<3x20xi32>
    ```
  }];
  let arguments = !con(kernelArguments,
                       (ins I64Attr:$block_size, I64Attr:$factor),
                       scheduleArguments);
}

def Cpu_ResampleOp
    : Cpu_ScheduledOp<"resample", [AttrSizedOperandSegments]> {
  let summary = "interpolation along neighbouring dimensions";
  let description = [{
    Resamples `first` and the following dimensions, one per element of
    `positions`; their size is D in src and E in dst. At most one dimension, of
    channels, is behind them. Each of `positions` is `T, E` of i32 and holds the
    positions in src of the T taps of each element of dst. Each of `weights` is
    `T, E` of f32 and holds the factor of each tap; without weights, T is 1:

    `dst[…, e1…en, c] = over t1…tn of the sum of weights1[t1, e1] ⋯
    weightsn[tn, en] src[…, positions1[t1, e1], …, positionsn[tn, en], c]`

    and then the epilogue. Positions are within src, and the positions of an
    element's taps do not decrease from one element to the next.

    Constraints:
    - C1: src and dst have one rank of 2 or more: the dimensions before `first`,
      1 to 3 resampled dimensions, and at most one dimension of channels
    - C2: other dimensions of src and dst are equal
    - C3: positions and weights have rank 2 and one T, with 1 to 16 taps for all
      dimensions together; there are as many weights as positions, or none
    - C4: the epilogue has an argument for the result and for each operand

    Example:
    ```mlir
    %y = cpu.resample ins(%x : tensor<1x8x4x4xf32>)
        positions(%p, %q : tensor<2x8xi32>, tensor<2x6xi32>)
        weights(%v, %w : tensor<2x8xf32>, tensor<2x6xf32>)
        outs(%d : tensor<1x8x8x6xf32>) attributes {first = 2 : i64} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    } -> tensor<1x8x8x6xf32>
    ```
  }];
  let arguments = !con((ins Cpu_Value:$src, Variadic<Cpu_Value>:$positions,
                            Variadic<Cpu_Value>:$weights,
                            Variadic<Cpu_Value>:$epilogue_operands,
                            Cpu_Value:$dst, I64Attr:$first),
                       scheduleArguments);
  let assemblyFormat = [{
    `ins` `(` $src `:` type($src) `)`
    `positions` `(` $positions `:` type($positions) `)`
    (`weights` `(` $weights^ `:` type($weights) `)`)?
    (`operands` `(` $epilogue_operands^ `:` type($epilogue_operands) `)`)?
    `outs` `(` $dst `:` type($dst) `)` attr-dict-with-keyword
    $epilogue (`->` type($result)^)?
  }];
  let extraClassDeclaration = resampleDeclarations # baseDeclarations # [{
    /// Returns the number of dimensions whose indices select a row.
    int64_t numRowDims() {
      return hasChannels() && numDims() == 1 ? lastDim() + 1 : lastDim();
    }
  }];
}

def Cpu_BandMatMulOp : Cpu_ScheduledOp<"band_matmul"> {
  let summary = "product of a banded matrix and a dimension of src";
  let description = [{
    Multiplies dimension `dim` by a matrix. The dimension has size K in src and
    O in dst. A row of the matrix has T neighboring elements that may differ
    from 0; its other elements are 0. `weights` are `O, T` of f32 and hold these
    elements. `starts` are `O` of i32 and hold the positions of the first ones.
    At most one dimension, of channels, is behind `dim`:

    `dst[…, o, c] = sum over t of weights[o, t] src[…, starts[o] + t, c]`

    and then the epilogue. Elements of src may be unsigned bytes, which count as
    floats. T is a multiple of bandUnit(C), so that every level can load whole
    vectors of weights. With `order`, channel c of dst is channel `order[c]` of
    the sum.

    All `starts[o]` are within src. `starts[o] + t` may be behind src; such taps
    are not read and add nothing.

    Constraints:
    - C1: src and dst have one rank, which is `dim + 1` or `dim + 2`; their
      other dimensions are equal
    - C2: starts has rank 1 and weights rank 2, both of O rows
    - C3: T is a multiple of bandUnit of the channels
    - C4: src is of f32 or bytes
    - C5: order is a permutation of 1 to 4 channels in the dimension behind
      `dim`
    - C6: the epilogue has an argument for the result and for each operand

    Example:
    ```mlir
    %y = cpu.band_matmul ins(%x, %s, %w
        : tensor<8x9x3xf32>, tensor<4xi32>, tensor<4x4xf32>)
        outs(%d : tensor<8x4x3xf32>) attributes {dim = 1 : i64} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    } -> tensor<8x4x3xf32>
    ```
  }];
  let arguments = !con((ins Cpu_Value:$src, Cpu_Value:$starts,
                            Cpu_Value:$weights,
                            Variadic<Cpu_Value>:$epilogue_operands,
                            Cpu_Value:$dst, I64Attr:$dim,
                            OptionalAttr<DenseI64ArrayAttr>:$order),
                       scheduleArguments);
  let assemblyFormat = [{
    `ins` `(` $src `,` $starts `,` $weights
    `:` type($src) `,` type($starts) `,` type($weights) `)`
    (`operands` `(` $epilogue_operands^ `:` type($epilogue_operands) `)`)?
    `outs` `(` $dst `:` type($dst) `)` attr-dict-with-keyword
    $epilogue (`->` type($result)^)?
  }];
  let extraClassDeclaration = baseDeclarations # [{
    /// Returns the number of taps per matrix row, which may be dynamic.
    int64_t numTaps() {
      return ::mlir::cast<::mlir::ShapedType>(getWeights().getType())
          .getShape()[1];
    }
    /// Returns the size of the dimension after `dim`, or 1 if there is none.
    int64_t numChannels() {
      auto src = ::mlir::cast<::mlir::ShapedType>(getSrc().getType());
      int64_t dim = getDim();
      return src.getRank() == dim + 1 ? 1 : src.getShape()[dim + 1];
    }
  }];
}

#endif // INGOT_DIALECTS_CPU_CPUREDUCTIONS_TD
