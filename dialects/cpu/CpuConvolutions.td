//===- CpuConvolutions.td - convolutions -------------------*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_CPU_CPUCONVOLUTIONS_TD
#define INGOT_DIALECTS_CPU_CPUCONVOLUTIONS_TD

// CpuOps.td includes this file after it has defined the classes used here.

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

    Products of ui8 by i8 (in groups of 4) and of i16 (in pairs) have sums of
    i32. Padding has the value `src_zero_point`. The compensation, `G*panels,
    K1…K(n-1), P` of i32, is added to the sum for each tap of all spatial
    dimensions but the last that lies within src. It is minus the zero point
    times the weights of the taps along the row. So the sum is that of `src -
    src_zero_point` at each border.

    `format` says how weights are stored. `pairs` have the meaning of those of
    `cpu.matmul`, for each tap.

    The format's `exact_tiles`, 2 or 4, allow Winograd convolution with exact
    sums (`Winograd.h`) for tiles of up to this many times this many pixels. It
    is proved for constant weights of i8, 3x3 taps, and strides and dilations of
    1.

    With weights of `signs`, values -1, 0 and 1 are multiplied by weights of -1
    and 1. The format has the number of channels. Channels are bits in i32
    elements, as `cpu.pack_signs` packs src; without zeros, src holds u alone.
    Weights are packed as one sign. Sums are i32, and padding adds nothing.

    With `dst_signs`, the results are such values, too, and dst holds their i32
    elements. The attribute is the number of output channels. The epilogue
    yields an i1 for u, and another one for v if there may be zeros.

    Constraints:
    - C1: src and dst have one rank of 3 to 5, weights one more
    - C2: strides and dilations have rank - 2 elements of 1 or more, pads twice
      as many of 0 or more
    - C3: src has groups times the channels of weights; groups divides O
    - C4: weights have `groups * ceil(O / groups / P)` panels
    - C5: the epilogue has an argument for the sum and for each operand
    - C6: channels are static; where a size of src or dst is dynamic, dst has as
      many windows as fit into src and its padding
    - C7: the compensation is present if `src_zero_point` is not 0; it is of
      integers
    - C8: the format is `panels` or `signs`, and the op has the operands that it
      implies; `pairs` belong to weights of i8 with one group, whose channels
      are a multiple of 4
    - C9: the format has `exact_tiles` only for bytes of rank 4 and one group,
      whose channels are a multiple of 4
    - C10: weights of i32 are `signs`, and only these, with one group and rows
      of static size; src and weights have equally many i32 elements
    - C11: `dst_signs` is present only for weights of `signs`; dst has its i32
      elements, and epilogue operands have one element or one per output channel

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
    /// Returns true if the op multiplies bytes and has the form for `winograd`.
    bool mayFilterBytes();
  }];
  let arguments = !con((ins Cpu_Value:$src, Cpu_Value:$weights,
                            Optional<Cpu_Value>:$compensation,
                            Optional<Cpu_Value>:$pairs,
                            Variadic<Cpu_Value>:$epilogue_operands,
                            Cpu_Value:$dst),
                       windowArguments, (ins I64Attr:$groups),
                       zeroPointArguments, formatArguments, signArguments,
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
  let summary = "Winograd convolution of 3x3 taps";
  let description = [{
    `cpu.conv` on `N, H, W, C` with 3x3 taps, strides and dilations of 1, and
    one group. Everything is f32, except that weights may be stored as f16.
    Weights are transformed and packed as those of a product for each point:
    `panels, (m + 2)^2, C, P`. An m x m block of outputs is computed from (m +
    2)^2 products; the format says m (see `Winograd.h`). pads lists both begins,
    then both ends.

    Constraints:
    - C1: src and dst have rank 4, weights too; src is of f32, weights of f32 or
      f16
    - C2: the format is `winograd<m>`, and weights have its (m + 2)^2 points
    - C3: pads are four of 0 or more
    - C4: src and weights have equally many channels; weights have `ceil(O / P)`
      panels of 16, 32 or 64 columns
    - C5: the epilogue has an argument for the sum and for each operand
    - C6: channels are static; dst has as many windows as fit into src and its
      padding

    Example:
    ```mlir
    %y = cpu.winograd_conv ins(%x, %w : tensor<1x8x8x16xf32>,
                                        tensor<1x36x16x16xf32>)
        outs(%d : tensor<1x8x8x16xf32>)
        attributes {pads = array<i64: 1, 1, 1, 1>,
                    format = #cpu.weights<winograd<4>>} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    } -> tensor<1x8x8x16xf32>
    ```
  }];
  let arguments = !con((ins Cpu_Value:$src, Cpu_Value:$weights,
                            Variadic<Cpu_Value>:$epilogue_operands,
                            Cpu_Value:$dst, DenseI64ArrayAttr:$pads,
                            Cpu_Weights:$format),
                       scheduleArguments);
}

def Cpu_DepthwiseConvOp
    : Cpu_ConvBase<"depthwise_conv"> {
  let summary = "n-dimensional convolution of each channel, or of a few";
  let description = [{
    `nn.conv` with as many groups as src and dst have channels. weights are
    `K1…Kn, C` of f32, or of i8 for src of ui8. src is of f32, bf16 or ui8;
    `src_zero_point` is subtracted from it. Otherwise as `cpu.conv`.

    Groups may also have M = 2 or 4 channels of src and of dst. Then weights are
    `K1…Kn, M C`. Index `m C + c` holds the factor of the m-th channel of the
    group for channel c of dst.
  }];
  let extraClassDeclaration = baseDeclarations # productDeclarations # [{
    /// Returns the number of channels of a group.
    int64_t groupSize();
  }];
  let arguments = !con((ins Cpu_Value:$src, Cpu_Value:$weights,
                            Variadic<Cpu_Value>:$epilogue_operands,
                            Cpu_Value:$dst),
                       windowArguments, zeroPointArguments, scheduleArguments);
  let assemblyFormat = [{
    `ins` `(` $src `,` $weights `:` type($src) `,` type($weights) `)`
    (`operands` `(` $epilogue_operands^ `:` type($epilogue_operands) `)`)?
    `outs` `(` $dst `:` type($dst) `)` attr-dict-with-keyword
    $epilogue (`->` type($result)^)?
  }];
}

def Cpu_ConvTransposeOp : Cpu_KernelOp<"conv_transpose"> {
  let summary = "n-dimensional grouped transposed convolution";
  let description = [{
    `nn.conv_transpose` on channels-last tensors, which the pass
    `cpu-decompose-conv-transpose` turns into kernels. src is `N, D1…Dn, C`,
    weights are constant and not packed, `C, O/G, K1…Kn`, dst is `N, E1…En, O`.
    `pads` lists the sizes that are cut off at all begins, then at all ends;
    negative values are padding. Dimension i of dst has `stride (D - 1) +
    dilation (K - 1) + 1` elements less its pads. If src is ui8 and weights are
    i8, the sums of `src - src_zero_point` are i32.

    Constraints:
    - C1: src, weights and dst have one rank of 3 to 5
    - C2: strides and dilations have rank - 2 elements of 1 or more, pads twice
      as many
    - C3: weights have as many channels as src, and groups divides this number;
      dst has O/G * groups
    - C4: the epilogue has an argument for the sum and for each operand
    - C5: channels are static
    - C6: `src_zero_point` is 0, or a value of src if src is of bytes
  }];
  let arguments = (ins Cpu_Value:$src, Cpu_Value:$weights,
                       Variadic<Cpu_Value>:$epilogue_operands, Cpu_Value:$dst,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                       DenseI64ArrayAttr:$dilations, I64Attr:$groups,
                       DefaultValuedAttr<I64Attr, "0">:$src_zero_point);
  let extraClassDeclaration = baseDeclarations # [{
    /// Returns the size of spatial dimension `d` of dst minus `stride` times
    /// that of src.
    int64_t sizeBeyond(int64_t d);
  }];
}

#endif // INGOT_DIALECTS_CPU_CPUCONVOLUTIONS_TD
