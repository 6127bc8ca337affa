//===- CpuConvolutions.td - convolutions -------------------*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_CPU_CPUCONVOLUTIONS_TD
#define INGOT_DIALECTS_CPU_CPUCONVOLUTIONS_TD

// CpuOps.td includes this file behind the classes it builds on.

class Cpu_ConvBase<string mnemonic, list<Trait> traits = []>
    : Cpu_ScheduledOp<mnemonic, traits> {
  dag windowArguments = (ins DenseI64ArrayAttr:$strides,
                             DenseI64ArrayAttr:$pads,
                             DenseI64ArrayAttr:$dilations);
  dag zeroPointArguments =
      (ins DefaultValuedAttr<I64Attr, "0">:$src_zero_point);
}

def Cpu_ConvOp : Cpu_ConvBase<"conv", [AttrSizedOperandSegments]> {
  let summary = "n-dimensional grouped convolution";
  let description = [{
    `nn.conv` on channels-last data. src is `N, D1…Dn, C`, weights are packed,
    `G*panels, K1…Kn, C/G, P`, dst is `N, E1…En, O`. pads lists all begins, then
    all ends; a dilation of 1 is dense.

    Sums of ui8 by i8, in groups of 4, and of i16, in pairs, are of i32. What
    is padded is `src_zero_point`. The compensation, `G*panels, K1…K(n-1), P` of
    i32, is added to the sum for each tap of all spatial dimensions but the last
    that lies within src: less zero point times the weights of the taps along
    the row. So the sum is that of `src - src_zero_point` at each border.

    `pairs` and `pair_counts` are as those of `cpu.matmul`, for each tap.

    `winograd` is proved of constant weights of i8, for 3x3 taps, strides and
    dilations of 1: minimal filtering (`Winograd.h`) gives sums to the bit for
    tiles of so many times so many pixels, 2 or 4, and for smaller ones.

    With `sign_channels` numbers -1, 0 and 1 are multiplied by -1 and 1, of so
    many channels as bits in words of i32, as `cpu.pack_signs` packs src, or u
    alone if there are no zeros; weights are packed as one sign. Sums are of
    i32, and what is padded adds nothing.

    With `dst_signs` the results are such numbers, too, of so many output
    channels, and dst are their words: the epilogue yields an i1 for u, and for
    words that may have zeros another one for v.

    Constraints:
    - C1: src and dst have one rank of 3 to 5, weights one more
    - C2: strides and dilations have rank - 2 elements of 1 or more, pads twice
      as many of 0 or more
    - C3: channels of src are those of weights * groups; groups divides O
    - C4: weights have `groups * ceil(O / groups / P)` panels
    - C5: the epilogue has an argument for the sum and for each operand
    - C6: channels are known; where a size of src or dst is open, dst has as
      many windows as find room in src and its padding
    - C7: the compensation is there where `src_zero_point` is not 0, of integers
    - C8: `pairs` are those of weights of i8, of one group and of channels in
      fours
    - C9: `winograd` is 2 or 4, of bytes of rank 4, one group and channels in
      fours
    - C10: `sign_channels` are there for weights of i32 and only for these, of
      one group and rows of known size; words of src and weights are as many
    - C11: `dst_signs` are there beside `sign_channels` only; dst has their
      words, epilogue operands one element or one for each output channel

    Example:
    ```mlir
    %y = cpu.conv ins(%x, %w : tensor<1x8x8x3xf32>, tensor<1x3x3x3x16xf32>)
        operands(%b : tensor<1x1x1x4xf32>) outs(%d : tensor<1x8x8x4xf32>)
        attributes {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>,
                    dilations = array<i64: 1, 1>, groups = 1 : i64} {
    ^bb0(%sum: f32, %bias: f32):
      %0 = arith.addf %sum, %bias : f32
      cpu.yield %0 : f32
    } -> tensor<1x8x8x4xf32>
    ```
  }];
  let extraClassDeclaration = baseDeclarations # productDeclarations #
                              signDeclarations # [{
    /// Whether it is of bytes and of the form that `winograd` is for.
    bool mayFilterBytes();
  }];
  let arguments = !con((ins Cpu_Value:$src, Cpu_Value:$weights,
                            Optional<Cpu_Value>:$compensation,
                            Optional<Cpu_Value>:$pairs,
                            Variadic<Cpu_Value>:$epilogue_operands,
                            Cpu_Value:$dst),
                       windowArguments, (ins I64Attr:$groups),
                       zeroPointArguments, pairCountArguments,
                       (ins OptionalAttr<I64Attr>:$winograd), signArguments,
                       scheduleArguments);
  let assemblyFormat = [{
    `ins` `(` $src `,` $weights `:` type($src) `,` type($weights) `)`
    (`compensation` `(` $compensation^ `:` type($compensation) `)`)?
    (`pairs` `(` $pairs^ `:` type($pairs) `)`)?
    (`operands` `(` $epilogue_operands^ `:` type($epilogue_operands) `)`)?
    `outs` `(` $dst `:` type($dst) `)` attr-dict-with-keyword
    $epilogue (`->` type($result)^)?
  }];
}

def Cpu_WinogradConvOp : Cpu_ScheduledOp<"winograd_conv"> {
  let summary = "convolution of 3x3 taps by minimal filtering";
  let description = [{
    `cpu.conv` on `N, H, W, C` with 3x3 taps, strides and dilations of 1, one
    group, and f32 throughout but for weights, which may be stored as f16.
    weights are transformed, and packed as those of a product for each point:
    `panels, (m + 2)^2, C, P`, where m x m outputs are computed from (m + 2)^2
    products; m is 2 or 4. See `Winograd.h`. pads lists both begins, then both
    ends.

    Constraints:
    - C1: src and dst have rank 4, weights too; src is of f32, weights of f32 or
      f16
    - C2: there are 16 or 36 points
    - C3: pads are four of 0 or more
    - C4: channels of src are those of weights; weights have `ceil(O / P)`
      panels of 16, 32 or 64 columns
    - C5: the epilogue has an argument for the sum and for each operand
    - C6: channels are known; dst has as many windows as find room in src and
      its padding

    Example:
    ```mlir
    %y = cpu.winograd_conv ins(%x, %w : tensor<1x8x8x16xf32>,
                                        tensor<1x36x16x16xf32>)
        outs(%d : tensor<1x8x8x16xf32>)
        attributes {pads = array<i64: 1, 1, 1, 1>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    } -> tensor<1x8x8x16xf32>
    ```
  }];
  let arguments = !con((ins Cpu_Value:$src, Cpu_Value:$weights,
                            Variadic<Cpu_Value>:$epilogue_operands,
                            Cpu_Value:$dst, DenseI64ArrayAttr:$pads),
                       scheduleArguments);
}

def Cpu_DepthwiseConvOp
    : Cpu_ConvBase<"depthwise_conv", [AttrSizedOperandSegments]> {
  let summary = "n-dimensional convolution of each channel, or of a few";
  let description = [{
    `nn.conv` with as many groups as src and dst have channels. weights are
    `K1…Kn, C` of f32, src is of f32, bf16 or ui8, of which `src_zero_point` is
    taken off. Otherwise as `cpu.conv`.

    Groups may have M = 2 or 4 channels of src and of dst. Then weights are
    `K1…Kn, M C`: at `m C + c` what the m-th channel of its group counts for
    channel c of dst.

    fours are weights of src of ui8 once more, as bytes, for CPUs with
    AVX512-VNNI; with AVX-VNNI they say that fours may be multiplied:
    `ceil(K1…K(n-1) / 4), Kn, P, 4` of i8, four taps above each other together,
    zeros behind the last. P are the channels, rounded up to 16. Of each whole
    block of 64 they stand as unpacking bytes leaves them: channel
    `16 l + 4 v + i` at `16 v + 4 l + i` (`ByteFours.h`).

    Constraints, besides those of `cpu.conv`:
    - C1: fours are there for src of ui8 only, in groups of one channel
  }];
  let extraClassDeclaration = baseDeclarations # productDeclarations # [{
    /// The channels of a group.
    int64_t groupSize();
  }];
  let arguments = !con((ins Cpu_Value:$src, Cpu_Value:$weights,
                            Optional<Cpu_Value>:$fours,
                            Variadic<Cpu_Value>:$epilogue_operands,
                            Cpu_Value:$dst),
                       windowArguments, zeroPointArguments, scheduleArguments);
  let assemblyFormat = [{
    `ins` `(` $src `,` $weights `:` type($src) `,` type($weights) `)`
    (`fours` `(` $fours^ `:` type($fours) `)`)?
    (`operands` `(` $epilogue_operands^ `:` type($epilogue_operands) `)`)?
    `outs` `(` $dst `:` type($dst) `)` attr-dict-with-keyword
    $epilogue (`->` type($result)^)?
  }];
}

def Cpu_ConvTransposeOp : Cpu_KernelOp<"conv_transpose"> {
  let summary = "n-dimensional grouped transposed convolution";
  let description = [{
    `nn.conv_transpose` on channels-last tensors, which
    `cpu-decompose-conv-transpose` makes kernels of. src is `N, D1…Dn, C`,
    weights are constant and not packed, `C, O/G, K1…Kn`, dst is `N, E1…En, O`.
    `pads` lists what is cut off at all beginnings, then at all ends, where less
    than nothing is padding: dimension i of dst has `stride (D - 1) + dilation
    (K - 1) + 1` elements less its pads. Bytes, src of ui8 and weights of i8,
    are summed up as i32, of `src - src_zero_point`.

    Constraints:
    - C1: src, weights and dst have one rank of 3 to 5
    - C2: strides and dilations have rank - 2 elements of 1 or more, pads twice
      as many
    - C3: weights have as many channels as src, which groups divides; dst has
      O/G * groups
    - C4: the epilogue has an argument for the sum and for each operand
    - C5: channels are known
    - C6: `src_zero_point` is 0, or a byte of bytes
  }];
  let arguments = (ins Cpu_Value:$src, Cpu_Value:$weights,
                       Variadic<Cpu_Value>:$epilogue_operands, Cpu_Value:$dst,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                       DenseI64ArrayAttr:$dilations, I64Attr:$groups,
                       DefaultValuedAttr<I64Attr, "0">:$src_zero_point);
  let extraClassDeclaration = baseDeclarations # [{
    /// How much larger than `stride` times that of src the size of spatial
    /// dimension `d` of dst is.
    int64_t sizeBeyond(int64_t d);
  }];
}

#endif // INGOT_DIALECTS_CPU_CPUCONVOLUTIONS_TD
