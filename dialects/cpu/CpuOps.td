//===- CpuOps.td - cpu ops ---------------------------------*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_CPU_CPUOPS_TD
#define INGOT_DIALECTS_CPU_CPUOPS_TD

include "dialects/cpu/CpuSchedule.td"
include "dialects/cpu/CpuWeights.td"
include "dialects/kernel/KernelInterfaces.td"
include "dialects/kernel/Recurrent.td"
include "dialects/kernel/Resample.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

//===----------------------------------------------------------------------===//
// Interface and base classes
//===----------------------------------------------------------------------===//

def Cpu_ScheduledInterface : OpInterface<"ScheduledOpInterface"> {
  let cppNamespace = "::ingot::cpu";
  let description = "A kernel that is tiled and split as its schedule says.";
  let methods = [
    InterfaceMethod<"the schedule, or null", "::ingot::cpu::ScheduleAttr",
                    "getScheduleAttr">,
    InterfaceMethod<"", "void", "setScheduleAttr",
                    (ins "::ingot::cpu::ScheduleAttr":$schedule)>,
  ];
  // Runs after the op's own verifier, because that verifier checks the shapes.
  let verifyWithRegions = 1;
  let verify = "return ::ingot::cpu::checks::verifySchedule($_op);";
}

def Cpu_Value
    : AnyTypeOf<[RankedTensorOf<[AnyType]>, StridedMemRefOf<[AnyType]>],
                "ranked tensor or memref">;

class Cpu_KernelOp<string mnemonic, list<Trait> traits = []>
    : Op<Cpu_Dialect, mnemonic, !listconcat([
          EpilogueOpInterface,
          DestinationStyleOpInterface,
          DeclareOpInterfaceMethods<KernelOpInterface, ["getKernelKind"]>,
          SingleBlock,
          DeclareOpInterfaceMethods<MemoryEffectsOpInterface>], traits)> {
  let results = (outs Optional<RankedTensorOf<[AnyType]>>:$result);
  let regions = (region SizedRegion<1>:$epilogue);
  let hasVerifier = 1;
  /// Declarations for an op whose weights have the type of src, f32 or f16.
  code productDeclarations = [{
    ::mlir::Type getProductType() {
      ::mlir::Type weights = ::mlir::getElementTypeOrSelf(getWeights());
      return weights.isF16() ? weights
                             : ::mlir::getElementTypeOrSelf(getSrc());
    }
  }];
  code baseDeclarations = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getDstMutable(); }
    ::llvm::StringRef getBackend() { return kBackend; }
    bool isLaunched() {
      return ::mlir::isa<ScheduledOpInterface>(getOperation());
    }
    ::ingot::kernel::ImageSplit getImageSplit() {
      return imageSplitOf(getOperation());
    }
    ::ingot::kernel::KernelClass getKernelClass() {
      return kernelClassOf(getOperation());
    }
    bool readsOnlyF32() { return isOfF32(getOperation()); }
    /// Returns true if an epilogue can read the type: floats, sums and
    /// quantized values.
    static bool canEpilogueRead(::mlir::Type element) {
      return element.isF32() || element.isInteger(32) ||
             element.isInteger(16) || element.isInteger(8);
    }
  }];
  /// Declarations for an op that may store its results as signs.
  code signDeclarations = [{
    /// Returns the number of output channels, whether dst stores elements or
    /// signs.
    int64_t dstChannels();
    /// Returns the number of tiles of `columns` columns that fill pairs of i32
    /// elements or, if there may be zeros, whole pixels. With `dst_signs` a
    /// task has all tiles, or a multiple of this number.
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

/// A kernel that the compiler generates code for.
class Cpu_ScheduledOp<string mnemonic, list<Trait> traits = []>
    : Cpu_KernelOp<mnemonic, !listconcat([Cpu_ScheduledInterface], traits)> {
  dag scheduleArguments = (ins OptionalAttr<Cpu_Schedule>:$schedule);
  // Arguments of products that support several formats of weights.
  dag formatArguments = (ins Cpu_Format:$format);
  dag signArguments = (ins OptionalAttr<I64Attr>:$dst_signs);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

def Cpu_MatMulOp : Cpu_ScheduledOp<"matmul", [AttrSizedOperandSegments]> {
  let summary = "batched matrix product";
  let description = [{
    `dst[…, i, j] = sum over k of src[…, i, k] weights[…, j / P, k, j % P]`,
    then the epilogue. src is `…, M, K`, dst `…, M, N`. Weights are packed, `…,
    ceil(N / P), K, P`, with src's batch dimensions or without any. `format`
    says how, and which operands there are besides.

    `pairs`, for constant weights of i8, are `ceil(N / P), K / 4` of i8. They
    say which bytes `vpmaddubsw` can add in pairs as int16 without saturation.
    Each entry is for a group of four k and has two bits for each 16 columns `g`
    of a panel. Bit `2 g` allows the pairs (first, second) and (third, fourth).
    Bit `2 g + 1` allows (first, third) and (second, fourth). A pair is allowed
    if its positive weights sum to at most 128, and its negative ones to at
    least -128. The format's `pair_counts` count the groups with the first bit,
    only the second, and neither.

    Weights of `signs`, and `dst_signs`, have the meaning of those of
    `cpu.conv`.

    Weights of `blocks` hold only the blocks of a matrix that are not all zero:
    `blocks, R, P`. Each block has R neighboring k of the columns of a panel.
    The operand `blocks` is a list of i32: the index of the first block of each
    panel, the number of blocks, then the first k of each block. Elements
    outside of blocks are zero and are not multiplied.

    Constraints:
    - C1: src and dst have one rank of 2 or more
    - C2: weights have rank 3, or one more than src
    - C3: K is equal in src and weights; batch dimensions agree
    - C4: the epilogue has an argument for the sum and for each operand
    - C5: K, N and the size of weights are static
    - C6: the format is `panels`, `blocks` or `signs`, and the op has the
      operands that it implies
    - C7: `pairs` belong to weights of i8 of one matrix, whose K is a multiple
      of 4
    - C8: weights of i32 are `signs`, and only these, of one matrix; src and
      weights have equally many i32 elements
    - C9: `dst_signs` is as in C11 of `cpu.conv`
    - C10: `blocks` is of i32, with an element for each panel, one more, and an
      element for each block of weights; there is at least one block, and R is
      at most K
  }];
  let extraClassDeclaration = baseDeclarations # productDeclarations #
                              signDeclarations # [{
    /// Returns the number of panels.
    int64_t numPanels();
  }];
  let arguments = !con((ins Cpu_Value:$src, Cpu_Value:$weights,
                            Optional<Cpu_Value>:$blocks,
                            Optional<Cpu_Value>:$pairs,
                            Variadic<Cpu_Value>:$epilogue_operands,
                            Cpu_Value:$dst),
                       formatArguments, signArguments, scheduleArguments);
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
    block_size, j]) scales[k / block_size, j]`, then the epilogue. Weights are
    i32 elements, `ceil(N / P), blocks * words, P`. `format` states the bits of
    a weight and the size of a block. An element holds `32 / bits`
    neighboring k of one column as signed values, the lowest bits first, so that
    a panel is read as one stream. With 8 bits, each 16 elements hold the bytes
    of 16 columns, with the bytes of one k beside each other. scales and zero
    points are `ceil(N / P), blocks, P`; without zero points they are 0.

    Src of i32 is the result of `cpu.round_blocks` on f32, with factor `-2^(
    bits - 1)`. Weights then hold the unsigned values q + 2^(bits - 1). Value i
    of an element is in byte `i % 4`, from bit `i / 4 * bits` on. So a shift and
    a mask give four neighboring k as bytes.

    Constraints:
    - C1: src and dst have one rank of 2 or more, src is of f32 or i32
    - C2: the format is `bits`; if there are several blocks, each fills whole
      i32 elements
    - C3: weights are i32 with `blocks * ceil(min(block_size, K) bits / 32)`
      elements
    - C4: scales of f32 and zero points of i8 or f32 have the panels of weights
    - C5: the epilogue has an argument for the sum and for each operand
    - C6: all sizes but those of rows are static
    - C7: a row of src of i32 has the blocks of weights, in a form that
      `cpu.round_blocks` makes
  }];
  let arguments = !con((ins Cpu_Value:$src, Cpu_Value:$weights,
                            Cpu_Value:$scales, Optional<Cpu_Value>:$zero_points,
                            Variadic<Cpu_Value>:$epilogue_operands,
                            Cpu_Value:$dst, Cpu_Weights:$format),
                       scheduleArguments);
  let extraClassDeclaration = baseDeclarations # productDeclarations # [{
    int64_t getWeightBits() { return getFormat().getBits(); }
    /// Returns the number of weights of one column that an i32 element holds.
    int64_t perWord() { return 32 / getFormat().getBits(); }
    /// Returns true if src consists of blocks of bytes.
    bool hasRoundedSrc();
    /// Returns the depth of rounded src, including zeros after the last
    /// element.
    int64_t depth();
    /// Returns the number of i32 elements of weights in the first block.
    int64_t wordsOfBlock();
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

def Cpu_AttentionBytes : AttrDef<Cpu_Dialect, "AttentionBytes"> {
  let mnemonic = "attention_bytes";
  let genVerifyDecl = 1;
  let summary = "numbers of an attention of bytes";
  let description = [{
    The bytes of src, keys and values minus their zero points are the factors of
    the products. A byte is signed if the attribute says so. The other numbers
    are those of `nn.byte_attention`.

    Constraints:
    - C1: a rounding is empty, or a scale above 0 and two ordered bounds
    - C2: `p_most` is from 1 to 255

    Example:
    ```mlir
    #cpu.attention_bytes<src_zero = 128, product_scale = 1.0e-2,
                         p_scale = 4.0e-3, p_most = 255, result_scale = 1.0e-4>
    ```
  }];
  let parameters = (ins
      DefaultValuedParameter<"bool", "false">:$src_signed,
      DefaultValuedParameter<"bool", "false">:$keys_signed,
      DefaultValuedParameter<"bool", "false">:$values_signed,
      DefaultValuedParameter<"int64_t", "0">:$src_zero,
      DefaultValuedParameter<"int64_t", "0">:$keys_zero,
      DefaultValuedParameter<"int64_t", "0">:$values_zero,
      "::mlir::FloatAttr":$product_scale,
      OptionalParameter<"::mlir::DenseF32ArrayAttr">:$product_rounding,
      OptionalParameter<"::mlir::DenseF32ArrayAttr">:$score_rounding,
      OptionalParameter<"::mlir::DenseF32ArrayAttr">:$masked_rounding,
      "::mlir::FloatAttr":$p_scale,
      "int64_t":$p_most,
      "::mlir::FloatAttr":$result_scale);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Cpu_AttentionOp : Cpu_ScheduledOp<"attention", [AttrSizedOperandSegments]> {
  let summary = "scaled dot-product attention of several heads";
  let description = [{
    `dst[b, i, h, :] = sum over j of p[j] values[b, j, h, :]`, then the
    epilogue, with `p = softmax over j of (scale * src[b, i, h, :] · keys[b, j,
    h, :] + mask[b, h, j, i])`. src is `B, M, H, D`, keys `B, N, H, D`, values
    `B, N, H, E`, dst `B, M, H, E`: the heads of a position are contiguous, as
    in the products before and after an attention. The last dimension of the
    mask are the queries. Neither scores nor probabilities are stored outside of
    a task (Vaswani et al., Attention Is All You Need, 2017; without storing
    scores: Rabe and Staats, 2021). With `safe`, a query whose probabilities are
    NaN gets zeros for any values (PyTorch's `_safe_softmax`). This happens if
    the mask leaves no key.

    With `bytes`, src, keys and values are i8, and the attention is that of
    `nn.byte_attention`: scores and probabilities are rounded as the model says.

    Constraints:
    - C1: all operands are of rank 4, with the sizes above; H, D and E are
      static. The mask is of f32, as are the others without `bytes`
    - C2: D and E are multiples of 16 of at most 256, N is not 0
    - C3: the mask's sizes are those of B, H, M, or 1, and N
    - C4: the epilogue has an argument for the result and for each operand
    - C5: `safe` is absent with `bytes`

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
                            Cpu_Value:$dst, F32Attr:$scale, UnitAttr:$safe,
                            OptionalAttr<Cpu_AttentionBytes>:$bytes),
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

include "dialects/cpu/CpuConvolutions.td"
include "dialects/cpu/CpuRecurrent.td"
include "dialects/cpu/CpuReductions.td"

def Cpu_YieldOp : Op<Cpu_Dialect, "yield",
                     [Pure, ReturnLike, Terminator,
                      ParentOneOf<["AttentionOp", "BandMatMulOp", "ConvOp",
                                   "ConvTransposeOp", "DepthwiseConvOp",
                                   "GroupNormOp", "MatMulOp",
                                   "PackedMatMulOp", "PackSignsOp", "PoolOp",
                                   "RecurrentOp", "ReduceOp", "ResampleOp",
                                   "RoundBlocksOp", "RowNormOp", "SoftmaxOp",
                                   "WinogradConvOp"]>]> {
  let summary = "yields the values that an epilogue or a cell stores";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

def Cpu_LaunchOp : Op<Cpu_Dialect, "launch",
    [LaunchOpInterface, DeclareOpInterfaceMethods<SymbolUserOpInterface>,
     DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "runs the tasks of a kernel in parallel";
  let description = [{
    Calls the function once for each task index 0, 1, …, tasks - 1, and waits
    for all calls. They run in any order and on any of the run's threads.
    Operands are memrefs,
    and the last `writes` of them are written. The task index is the last
    argument.

    Constraints:
    - C1: the kernel is a function of the module that takes the operands, then
      an index, and returns nothing
    - C2: an operand differs from its parameter in the offset at most

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
