//===- CpuOps.td - cpu ops ---------------------------------*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_CPU_CPUOPS_TD
#define INGOT_DIALECTS_CPU_CPUOPS_TD

include "dialects/cpu/CpuSchedule.td"
include "dialects/kernel/KernelInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

//===----------------------------------------------------------------------===//
// Interface and base classes
//===----------------------------------------------------------------------===//

def Cpu_EpilogueInterface : OpInterface<"EpilogueOpInterface"> {
  let cppNamespace = "::ingot::cpu";
  let description = "An op with an epilogue region.";
  let methods = [
    InterfaceMethod<"the region", "::mlir::Region &", "getEpilogue">,
    InterfaceMethod<"operands that the region reads", "::mlir::OperandRange",
                    "getEpilogueOperands">,
    InterfaceMethod<"", "::mlir::MutableOperandRange",
                    "getEpilogueOperandsMutable">,
  ];
}

def Cpu_ScheduledInterface : OpInterface<"ScheduledOpInterface"> {
  let cppNamespace = "::ingot::cpu";
  let description = "A kernel that is tiled and split as its schedule says.";
  let methods = [
    InterfaceMethod<"the schedule, or null", "::ingot::cpu::ScheduleAttr",
                    "getScheduleAttr">,
    InterfaceMethod<"", "void", "setScheduleAttr",
                    (ins "::ingot::cpu::ScheduleAttr":$schedule)>,
  ];
  // Behind the op's own verifier, which knows the shapes.
  let verifyWithRegions = 1;
  let verify = "return ::ingot::cpu::checks::verifySchedule($_op);";
}

def Cpu_Value
    : AnyTypeOf<[RankedTensorOf<[AnyType]>, StridedMemRefOf<[AnyType]>],
                "ranked tensor or memref">;

class Cpu_KernelOp<string mnemonic, list<Trait> traits = []>
    : Op<Cpu_Dialect, mnemonic, !listconcat([
          Cpu_EpilogueInterface,
          DestinationStyleOpInterface,
          DeclareOpInterfaceMethods<KernelOpInterface, ["getKernelKind"]>,
          SingleBlock,
          DeclareOpInterfaceMethods<MemoryEffectsOpInterface>], traits)> {
  let results = (outs Optional<RankedTensorOf<[AnyType]>>:$result);
  let regions = (region SizedRegion<1>:$epilogue);
  let hasVerifier = 1;
  /// Of an op that multiplies src by weights of its type, or of f32, or of f16.
  code productDeclarations = [{
    ::mlir::Type getProductType() {
      ::mlir::Type weights = ::mlir::getElementTypeOrSelf(getWeights());
      return weights.isF16() ? weights
                             : ::mlir::getElementTypeOrSelf(getSrc());
    }
  }];
  code baseDeclarations = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getDstMutable(); }
  }];
  /// Of an op that may store signs.
  code signDeclarations = [{
    /// Output channels, however they are stored.
    int64_t dstChannels();
    /// With `dst_signs` a task has a multiple of so many tiles of `columns`, or
    /// all: whole pairs of words, or whole pixels if they may have zeros.
    int64_t tilesOfWords(int64_t columns);
  }];
  let extraClassDeclaration = baseDeclarations;
  let assemblyFormat = [{
    `ins` `(` $src `,` $weights `:` type($src) `,` type($weights) `)`
    (`operands` `(` $epilogue_operands^ `:` type($epilogue_operands) `)`)?
    `outs` `(` $dst `:` type($dst) `)` attr-dict-with-keyword
    $epilogue (`->` type($result)^)?
  }];
}

/// A kernel that code is written for.
class Cpu_ScheduledOp<string mnemonic, list<Trait> traits = []>
    : Cpu_KernelOp<mnemonic, !listconcat([Cpu_ScheduledInterface], traits)> {
  dag scheduleArguments = (ins OptionalAttr<Cpu_Schedule>:$schedule);
  // Of products of bytes, and of signs.
  dag pairCountArguments = (ins OptionalAttr<DenseI64ArrayAttr>:$pair_counts);
  dag signArguments = (ins OptionalAttr<I64Attr>:$sign_channels,
                           OptionalAttr<I64Attr>:$dst_signs);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

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

    Bytes are summed up as i32: src of ui8, weights of i8, in groups of 4. What
    is padded is `src_zero_point`. The compensation, `G*panels, K1…K(n-1), P` of
    i32, is added to the sum for each tap of all spatial dimensions but the last
    that lies within src: less zero point times the weights of the taps along
    the row. So the sum is that of `src - src_zero_point` at each border.

    `pairs` and `pair_counts` are as those of `cpu.matmul`, for each tap.

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
    - C7: the compensation is there where `src_zero_point` is not 0, of bytes
    - C8: `pairs` are those of weights of i8, of one group and of channels in
      fours
    - C9: `sign_channels` are there for weights of i32 and only for these, of
      one group and rows of known size; words of src and weights are as many
    - C10: `dst_signs` are there beside `sign_channels` only; dst has their
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
                              signDeclarations;
  let arguments = !con((ins Cpu_Value:$src, Cpu_Value:$weights,
                            Optional<Cpu_Value>:$compensation,
                            Optional<Cpu_Value>:$pairs,
                            Variadic<Cpu_Value>:$epilogue_operands,
                            Cpu_Value:$dst),
                       windowArguments, (ins I64Attr:$groups),
                       zeroPointArguments, pairCountArguments,
                       signArguments, scheduleArguments);
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

    fours are weights of src of ui8 once more, as bytes, for CPUs with VNNI:
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

def Cpu_MatMulOp : Cpu_ScheduledOp<"matmul", [AttrSizedOperandSegments]> {
  let summary = "batched matrix product";
  let description = [{
    `dst[…, i, j] = sum over k of src[…, i, k] weights[…, j / P, k, j % P]`,
    then the epilogue. src is `…, M, K`, dst `…, M, N`, weights are packed, `…,
    ceil(N / P), K, P`, with src's batch dimensions or with none.

    `pairs` of constant weights of i8, `ceil(N / P), K / 4` of i8, say of which
    bytes `vpmaddubsw` adds pairs as words that never saturate: for each group
    of four k and each 16 columns `g` of a panel, bit `2 g` that the first and
    the second of the four may be paired, and the third and the fourth; bit
    `2 g + 1` the first and the third, and the second and the fourth. Of any
    pair, positive weights are at most 128 together, negative ones at least
    -128. `pair_counts` are how many groups have the first bit, only the second,
    and neither: for all 16 columns, then for whole panels. `cpu-schedule`
    drops the counts.

    `sign_channels` and `dst_signs` are as those of `cpu.conv`.

    With `blocks`, weights are those blocks of a matrix that are not all zero:
    `blocks, R, P`, R neighbouring k of the columns of a panel each. `blocks`
    is a list of i32: the number of the first block of each panel, and of all
    blocks, then the first k of each block. What is in no block is zero, and
    nothing is multiplied by it.

    Constraints:
    - C1: src and dst have one rank of 2 or more
    - C2: weights have rank 3, or one more than src
    - C3: K is the same in src and weights; batch dimensions agree
    - C4: the epilogue has an argument for the sum and for each operand
    - C5: K, N and the size of weights are known
    - C6: `pairs` are those of weights of i8, of one matrix and of K in fours
    - C7: `sign_channels` are there for weights of i32 and only for these, of
      one matrix; words of src and weights are as many
    - C8: `dst_signs` are as C10 of `cpu.conv`
    - C9: `blocks` are of i32, one for each panel, 1, and one for each block of
      weights, of which there are 1 or more and R is at most K; then there are
      neither `pairs` nor `sign_channels`
  }];
  let extraClassDeclaration = baseDeclarations # productDeclarations #
                              signDeclarations # [{
    /// Panels of columns.
    int64_t numPanels();
  }];
  let arguments = !con((ins Cpu_Value:$src, Cpu_Value:$weights,
                            Optional<Cpu_Value>:$blocks,
                            Optional<Cpu_Value>:$pairs,
                            Variadic<Cpu_Value>:$epilogue_operands,
                            Cpu_Value:$dst),
                       pairCountArguments, signArguments, scheduleArguments);
  let assemblyFormat = [{
    `ins` `(` $src `,` $weights `:` type($src) `,` type($weights) `)`
    (`blocks` `(` $blocks^ `:` type($blocks) `)`)?
    (`pairs` `(` $pairs^ `:` type($pairs) `)`)?
    (`operands` `(` $epilogue_operands^ `:` type($epilogue_operands) `)`)?
    `outs` `(` $dst `:` type($dst) `)` attr-dict-with-keyword
    $epilogue (`->` type($result)^)?
  }];
}

def Cpu_PackedMatMulOp
    : Cpu_ScheduledOp<"packed_matmul", [AttrSizedOperandSegments]> {
  let summary = "batched matrix product with weights of a few bits";
  let description = [{
    `dst[…, i, j] = sum over k of src[…, i, k] (q[k, j] - zero_points[k /
    block_size, j]) scales[k / block_size, j]`, then the epilogue. weights are
    words of i32, `ceil(N / P), blocks * words, P`: a word holds `32 / bits`
    neighbouring k of one column, the lowest bits first, as signed numbers, so
    that words times panels are read as one stream. scales and zero points are
    `ceil(N / P), blocks, P`; without zero points they are 0.

    Constraints:
    - C1: src and dst have one rank of 2 or more, src is of f32
    - C2: bits are 2, 4 or 8; blocks of which there is more than one are whole
      words
    - C3: weights are i32 of `blocks * ceil(min(block_size, K) bits / 32)` words
    - C4: scales of f32 and zero points of i8 or f32 have the panels of weights
    - C5: the epilogue has an argument for the sum and for each operand
    - C6: all sizes but those of rows are known
  }];
  let arguments = !con((ins Cpu_Value:$src, Cpu_Value:$weights,
                            Cpu_Value:$scales, Optional<Cpu_Value>:$zero_points,
                            Variadic<Cpu_Value>:$epilogue_operands,
                            Cpu_Value:$dst, I64Attr:$bits, I64Attr:$block_size),
                       scheduleArguments);
  let extraClassDeclaration = baseDeclarations # [{
    /// Elements of a column in a word.
    int64_t perWord() { return 32 / int64_t(getBits()); }
    int64_t depth() {
      return ::mlir::cast<::mlir::ShapedType>(getSrc().getType())
          .getShape().back();
    }
    int64_t blocks() {
      return ::mlir::cast<::mlir::ShapedType>(getScales().getType())
          .getDimSize(1);
    }
    int64_t panel() {
      return ::mlir::cast<::mlir::ShapedType>(getWeights().getType())
          .getDimSize(2);
    }
  }];
  let assemblyFormat = [{
    `ins` `(` $src `,` $weights `,` $scales
    `:` type($src) `,` type($weights) `,` type($scales) `)`
    (`zero_points` `(` $zero_points^ `:` type($zero_points) `)`)?
    (`operands` `(` $epilogue_operands^ `:` type($epilogue_operands) `)`)?
    `outs` `(` $dst `:` type($dst) `)` attr-dict-with-keyword
    $epilogue (`->` type($result)^)?
  }];
}

def Cpu_AttentionOp : Cpu_ScheduledOp<"attention", [AttrSizedOperandSegments]> {
  let summary = "scaled dot-product attention of several heads";
  let description = [{
    `dst[b, i, h, :] = sum over j of p[j] values[b, j, h, :]`, then the
    epilogue, with `p = softmax over j of (scale * src[b, i, h, :] · keys[b, j,
    h, :] + mask[b, h, j, i])`. src is `B, M, H, D`, keys `B, N, H, D`, values
    `B, N, H, E`, dst `B, M, H, E`: heads lie within a position, as the products
    before and after an attention have them. The mask has the queries last.
    Neither scores nor probabilities are stored outside of a task (Vaswani et
    al., Attention Is All You Need, 2017; without storing scores: Rabe and
    Staats, 2021). With `safe`, a query whose probabilities are no numbers, as
    where the mask leaves no key, gets zeros (PyTorch's `_safe_softmax`),
    whatever the values are.

    Constraints:
    - C1: all are of f32 and of rank 4, of sizes as above, H, D and E known
    - C2: D and E are multiples of 16 of at most 256, N is not 0
    - C3: the mask's sizes are those of B, H, M, or 1, and N
    - C4: the epilogue has an argument for the result and for each operand

    Example:
    ```mlir
    %y = cpu.attention ins(%q, %k, %v : tensor<1x7x2x16xf32>,
            tensor<1x9x2x16xf32>, tensor<1x9x2x32xf32>)
        mask(%m : tensor<1x1x9x1xf32>) outs(%d : tensor<1x7x2x32xf32>)
        attributes {scale = 2.5e-1 : f32} {
    ^bb0(%sum: f32):
      cpu.yield %sum : f32
    } -> tensor<1x7x2x32xf32>
    ```
  }];
  let arguments = !con((ins Cpu_Value:$src, Cpu_Value:$keys, Cpu_Value:$values,
                            Optional<Cpu_Value>:$mask,
                            Variadic<Cpu_Value>:$epilogue_operands,
                            Cpu_Value:$dst, F32Attr:$scale, UnitAttr:$safe),
                       scheduleArguments);
  let assemblyFormat = [{
    `ins` `(` $src `,` $keys `,` $values
    `:` type($src) `,` type($keys) `,` type($values) `)`
    (`mask` `(` $mask^ `:` type($mask) `)`)?
    (`operands` `(` $epilogue_operands^ `:` type($epilogue_operands) `)`)?
    `outs` `(` $dst `:` type($dst) `)` attr-dict-with-keyword
    $epilogue (`->` type($result)^)?
  }];
}

include "dialects/cpu/CpuRecurrent.td"
include "dialects/cpu/CpuRows.td"

def Cpu_YieldOp : Op<Cpu_Dialect, "yield",
                     [Pure, ReturnLike, Terminator,
                      ParentOneOf<["AttentionOp", "ConvOp", "ConvTransposeOp",
                                   "DepthwiseConvOp", "GroupNormOp", "MatMulOp",
                                   "PackedMatMulOp", "PackSignsOp", "PoolOp",
                                   "RecurrentOp", "ReduceOp", "RowNormOp",
                                   "ResampleOp", "SoftmaxOp",
                                   "WinogradConvOp"]>]> {
  let summary = "what an epilogue or a cell stores";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

def Cpu_LaunchOp : Op<Cpu_Dialect, "launch",
    [DeclareOpInterfaceMethods<SymbolUserOpInterface>,
     DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "runs a kernel, its tasks in parallel";
  let description = [{
    Calls the function once for each task number 0, 1, …, tasks - 1, in any
    order and on any of the run's threads, and waits for all. Operands are
    memrefs, of which the last `writes` are written; the task's number comes
    behind them.

    Constraints:
    - C1: the kernel is a function of the module that takes the operands, then
      an index, and returns nothing
    - C2: an operand differs from its parameter in no more than the offset

    Example:
    ```mlir
    cpu.launch @conv.0(%x, %w, %y) tasks(%n) writes 1
        : memref<1x8x8x3xf32>, memref<1x3x3x3x16xf32>, memref<1x8x8x4xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel,
                       Variadic<AnyStridedMemRef>:$args, Index:$tasks,
                       I64Attr:$writes);
  let assemblyFormat = [{
    $kernel `(` $args `)` `tasks` `(` $tasks `)` `writes` $writes attr-dict
    `:` type($args)
  }];
}

#endif // INGOT_DIALECTS_CPU_CPUOPS_TD
