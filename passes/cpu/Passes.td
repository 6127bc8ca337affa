//===- cpu/Passes.td - code generation of native kernels ---*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_PASSES_TD
#define INGOT_PASSES_CPU_PASSES_TD

include "mlir/Pass/PassBase.td"

class Cpu_ToVector<string flag> : Pass<flag, "::mlir::ModuleOp"> {
  let dependentDialects = [
    "::ingot::IngotDialect",
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"];
}

def AttentionToVector : Cpu_ToVector<"cpu-attention-to-vector"> {
  let summary = "Write attention kernels as loops over register tiles";
  let description = [{
    Writes `cpu.attention` on memrefs as loops over vectors. A task is a block
    of queries of one head:

    ```
    for block of queries, one query in a lane of two vectors
    queries, scaled and transposed, on the stack
    for tile of keys: scores = keys · queries (+ mask), on the stack
    maxima, exponentials of the scores, sums: lane by lane
    for column tile of the values, tile of queries
        result = exponentials · values / sums; epilogue, store
    ```

    Keys are processed in blocks, with running maxima and sums, if their number
    is open or their scores do not fit on the stack. Levels with instructions
    for bf16 multiply bf16 if the op has that precision.
  }];
}

def ContractionsToVector
    : Cpu_ToVector<"cpu-contractions-to-vector"> {
  let summary =
      "Write products that have no kernel as loops over register tiles";
  let description = [{
    Rewrites a `linalg.generic` on memrefs that adds up products of f32, f64,
    bf16, i32, int16 or int8. Its loops are batch…, row, k, column, and any of
    them may be open. The right factor may be transposed. Convolutions are
    included: the rows of their left factor are windows.

    ```
    for batch, tap, panels of columns
      for block of k
        the panels' part of the right factor, packed: rows of whole vectors
        for panel, row tile
          for k of the block: accumulators += a[row, k] * panel[k, column]
          add the accumulators to the result
    ```

    A packed panel stays in the first-level cache for all rows. Packing
    transposes the right factor if its columns are stored as rows. If a product
    has few rows, they read the right factor directly. If it has few columns,
    each column is packed alone. Elements of int16 are multiplied in pairs of k.
  }];
  let dependentDialects = [
    "::ingot::IngotDialect", "::mlir::arith::ArithDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"];
  let statistics = [Statistic<"numWritten", "written", "ops written">];
}

def ConvToVector : Cpu_ToVector<"cpu-conv-to-vector"> {
  let summary = "Write convolution kernels as loops over register tiles";
  let description = [{
    Writes `cpu.conv` on memrefs as loops over register tiles. A task is a block
    of rows and of column tiles:

    ```
    for output row (n, e1, …, e(n-1))
      for pixel tile within the row
        for taps of the outer kernel dimensions that lie within src
          for k over taps of the row and their channels
            accumulators += src[pixel, k] * weights[k, column]
        epilogue, store
    ```

    The op's schedule selects the micro-kernel and the order of the loops:
    across rows for short rows and open sizes, by blocks of k for large weights,
    or Winograd's algorithm for int8. Taps in the padding are not computed,
    except along a row of int8 with a zero point. A tile with such taps has code
    of its own.
  }];
}

def WinogradToVector : Cpu_ToVector<"cpu-winograd-to-vector"> {
  let summary = "Write Winograd's algorithm as transforms and products";
  let description = [{
    Writes `cpu.winograd_conv` on memrefs as loops over register tiles. A task
    transforms the pixels of a block of tiles, multiplies them by the
    transformed weights, point by point, and transforms the sums back. The
    epilogue then stores the pixels. Transformed pixels stay on the stack.
  }];
}

def PackedMatMulToVector : Cpu_ToVector<"cpu-packed-matmul-to-vector"> {
  let summary = "Write products with weights of a few bits as loops";
  let description = [{
    Writes `cpu.packed_matmul` on memrefs as loops over register tiles. With few
    rows, weights are unpacked in registers:

    ```
    for column tile
      for block of k
        for k of the block: sums += src[row, k] * value[k, column]
        accumulators += scale * (sums - zero point * sum of src[row, k])
      epilogue, store
    ```

    With more rows, each panel is unpacked once, to f32 on the stack, for all
    rows of a task. Rows that are rounded to int8 are multiplied as bytes.
  }];
}

def RecurrentToVector : Cpu_ToVector<"cpu-recurrent-to-vector"> {
  let summary = "Write recurrences as loops over time and register tiles";
  let description = [{
    Writes `cpu.recurrent` on memrefs as loops over time and register tiles. A
    task is a block of sequences in one direction:

    ```
    for step
      for panel of recurrent weights, alternately forwards and backwards
        for row tile: sums = state · weights
      with a reset gate: the gate first, then products with its result
      for sequence, vector of units: cell; store the output and the states
    ```

    Each step reads the panels in the opposite order, so that the second-level
    cache still holds the panels that the previous step read last.
  }];
}

def DepthwiseToVector : Cpu_ToVector<"cpu-depthwise-to-vector"> {
  let summary = "Write depthwise convolution kernels as loops over vectors";
  let description = [{
    Writes `cpu.depthwise_conv` on memrefs as loops over vectors of channels:

    ```
    for block of channels
      for output row
        for pixel tile within the row
          for taps of the outer kernel dimensions that lie within src
            accumulators[pixel] += src[pixel, tap] * weights[tap]
          epilogue, store
    ```

    All taps of a row are unrolled, and a pixel under several taps is loaded
    once. In groups of two or four channels, a shuffle brings each channel to
    all lanes of its group. The op's schedule says if int8 are multiplied in
    groups of four, in pairs of int16, or as f32.
  }];
  let dependentDialects = [
    "::ingot::IngotDialect",
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"];
}

def EmulateInstructions : Pass<"emulate-instructions", "::mlir::ModuleOp"> {
  let summary = "Write AMX and dot product instructions as loops over vectors";
  let description = [{
    For tests of kernels on CPUs that lack the instructions. Tiling and
    addresses stay as they are. Loops over vectors replace `amx` ops,
    `x86vector.avx512.dot`, and the intrinsics that multiply groups of four
    bytes or convert and pack integers. An AMX tile is memory on the stack, and
    a product adds to its accumulator's memory. Sums have the order of Intel's
    manual. Denormal values are kept, while AMX and `vdpbf16ps` treat them as
    zero.

    Later passes see the CPU level `on` in the module's `ingot.target`.
  }];
  let options = [Option<"on", "on", "std::string", "\"x86-64-v3\"",
                        "The CPU level that is to run the code">];
  let dependentDialects = [
    "::ingot::IngotDialect",
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"];
}

def ExpandBF16 : Pass<"expand-bf16", "::mlir::ModuleOp"> {
  let summary = "Widen and round bf16 by integer arithmetic";
  let description = [{
    Rounding is rewritten only for levels without AVX512-BF16, where LLVM would
    call a function for each element.
  }];
  let dependentDialects = [
    "::ingot::IngotDialect", "::mlir::arith::ArithDialect"];
}

def ExpandFMA : Pass<"expand-fma", "::mlir::ModuleOp"> {
  let summary = "Multiply and add in f64 where there is no fused multiply-add";
  let description = [{
    For levels without the instruction, where LLVM would call a function for
    each element. All levels then give the same bits. Two forms are rewritten:

    - the bits of a `math.fma` of f32 whose addend is a whole number and whose
      result lies between 2^23 and 2^24, as `nn.requantize` uses it.
      Neighbouring f32 are 1 apart there.
    - other `math.fma` of f32. Their sum is rounded to f64 and then to f32,
      which hardly ever differs from one rounding.
  }];
  let dependentDialects = [
    "::ingot::IngotDialect", "::mlir::arith::ArithDialect"];
}

def GroupNormToVector : Cpu_ToVector<"cpu-group-norm-to-vector"> {
  let summary = "Write group norm kernels as loops over vectors";
  let description = [{
    Writes `cpu.group_norm` on memrefs as loops over tiles of channels. A task
    is a block of whole groups of one sample. One pass computes the means, a
    second pass the variances. A third pass normalizes, runs the epilogue and
    stores.
  }];
}

def LoopsToVector : Cpu_ToVector<"cpu-loops-to-vector"> {
  let summary = "Write elementwise loops over short and open rows with vectors";
  let description = [{
    Rewrites a `linalg.generic` on memrefs without reductions and with elements
    of 32 bits. Its operands must be contiguous or constant along the innermost
    loop. Each vector of this loop becomes one body on vectors, and the last
    vector has a mask. LLVM would compute the rest behind whole vectors element
    by element, which is half of a row of 15 elements. Long rows are rewritten
    only if the body has functions, or if it rounds floats to bytes. Bytes are
    computed in blocks that fill a vector. The last block of a row ends with the
    row, so that some bytes are written twice.
  }];
  let statistics = [Statistic<"numWritten", "written", "ops written">];
}

def MatMulToVector : Cpu_ToVector<"cpu-matmul-to-vector"> {
  let summary = "Write matrix product kernels as loops over register tiles";
  let description = [{
    Writes `cpu.matmul` on memrefs as loops over register tiles. A task is a
    block of rows and of column tiles:

    ```
    for column tile: its part of the weights stays in the cache
      for row tile: its rows of src stay in the first-level cache
        for k: accumulators += src[row, k] * weights[k, column]
        epilogue, store
    ```

    The op's schedule selects the micro-kernel. It also splits a long k into
    blocks, whose partial sums are kept on the stack. With block-sparse weights,
    k runs only over the blocks of the panel. With AMX, a row tile that would be
    too small for an AMX tile starts earlier and stores only the remaining rows.
  }];
}

def OutlineKernels : Pass<"outline-kernels", "::mlir::ModuleOp"> {
  let summary = "Outline kernels into functions that equal kernels share";
  let description = [{
    A cpu op on memrefs becomes a `cpu.launch` of a private function that takes
    the op's operands and the index of a task. Ops that differ only in their
    operands and locations share a function. The op's schedule determines the
    number of tasks.
  }];
  let statistics = [Statistic<"shared", "shared", "kernels that are reused">];
  let dependentDialects = [
    "::ingot::IngotDialect",
    "::mlir::arith::ArithDialect", "::ingot::cpu::CpuDialect",
    "::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect"];
}

def PackSignsToVector : Cpu_ToVector<"cpu-pack-signs-to-vector"> {
  let summary = "Write the packing of signs as loops over words of 32 bits";
  let description = [{
    Writes `cpu.pack_signs` on memrefs as loops over vectors of bytes. For each
    32 channels of a row, two comparisons with the zero point give the bit
    planes u and v. The pass stores them, and a last word that says if the row
    has zeros.
  }];
}

def PoolToVector : Cpu_ToVector<"cpu-pool-to-vector"> {
  let summary = "Write pooling kernels as loops over vectors";
  let description = [{
    Writes `cpu.pool` on memrefs as loops over vectors of channels. Any size may
    be open, except for the number of channels:

    ```
    for output row
      taps of the outer window dimensions that lie within src
      for pixel, in three ranges: left border, whole windows, right border
        for tile of channels
          accumulators = fold over taps of src[pixel, tap]
          divide by the number of taps for a mean; epilogue, store
    ```

    Pixels with whole windows have a second variant, for rows where all outer
    taps exist, too.
  }];
}

def ReduceToVector : Cpu_ToVector<"cpu-reduce-to-vector"> {
  let summary = "Write reduction kernels as loops over vectors";
  let description = [{
    Writes `cpu.reduce` on memrefs as loops over vectors. A reduction along rows
    of contiguous elements has several accumulators for each row, folded as a
    tree. A reduction over rows, which keeps the channels, has accumulators for
    a few rows side by side. Sums of more than a few elements continue in f64,
    so that their error does not grow with their number.
  }];
}

def BandMatMulToVector : Cpu_ToVector<"cpu-band-matmul-to-vector"> {
  let summary = "Write products of banded matrices as loops over vectors";
  let description = [{
    Writes `cpu.band_matmul` on memrefs as loops over vectors. If there are more
    channels than a vector has lanes, each row of the matrix multiplies vectors
    of channels. If there are fewer, a vector holds several positions of all
    channels. A few rows of src are then multiplied at once, and partial sums of
    each channel are added up until a vector is full. Taps behind src are not
    read.
  }];
}

def ResampleToVector : Cpu_ToVector<"cpu-resample-to-vector"> {
  let summary = "Write resampling kernels as loops over vectors";
  let description = [{
    Writes `cpu.resample` on memrefs as loops over vectors. With channels, each
    pixel of dst sums up vectors of channels over its taps. Without channels,
    eight elements of dst are computed at once. The rows of src that hold their
    taps are summed up first; permutations of the sums then give the taps. If
    src is larger than dst, taps are loaded in pairs or one by one.
  }];
  let dependentDialects = [
    "::ingot::IngotDialect",
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def RoundBlocksToVector : Cpu_ToVector<"cpu-round-blocks-to-vector"> {
  let summary = "Write the rounding of blocks of rows with vectors";
  let description = [{
    Writes `cpu.round_blocks` on memrefs as loops over the blocks of each row. A
    block's largest magnitude gives its scale. The pass rounds the elements to
    int8, or to a fixed point of three bytes. It stores the bytes, adds them up
    and stores the sums. Magnitudes are compared
    as integers, because floats without a sign have the same order.
  }];
}

def RowNormToVector : Cpu_ToVector<"cpu-row-norm-to-vector"> {
  let summary = "Write layer and RMS norm kernels as loops over vectors";
  let description = [{
    Writes `cpu.row_norm` on memrefs as loops over vectors. For each row, one
    pass computes the mean (not for `rms`) and a second pass the variance. A
    third pass normalizes, runs the epilogue and stores.
  }];
}

def SaturateIntegers : Pass<"saturate-integers", "::mlir::ModuleOp"> {
  let summary = "Add zero points and saturate as integers";
  let description = [{
    Rewrites vectors of `clamp(round(x / s) + z)` that become integers. The
    divisor `s` is computed in the run, and `z` is an integer of 8 bits, or
    missing. Sum and saturation are computed with integers. Rounding and
    conversion are then one instruction, and so are saturation and narrowing.
    The quotient is clamped to `-2^30` and `2^30`, because larger floats have no
    i32.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def Schedule : Pass<"cpu-schedule", "::mlir::ModuleOp"> {
  let summary = "Decide how kernels are tiled and split into tasks";
  let description = [{
    Sets the `schedule` of each cpu op on memrefs for the module's
    `ingot.target`, and keeps an existing schedule. The passes that split
    kernels and write their code only read the attribute. The pass reports a
    schedule for which the target lacks registers or instructions.
  }];
  let options = [Option<"seed", "seed", "uint64_t", "0",
                        "For tests: draw random schedules from this seed; "
                        "0 chooses the best schedule">];
  let statistics = [
    Statistic<"chosen", "chosen", "schedules chosen">,
    Statistic<"given", "given", "schedules that were kept">];
  let dependentDialects = ["::ingot::IngotDialect", "::ingot::cpu::CpuDialect"];
}

def SoftmaxToVector : Cpu_ToVector<"cpu-softmax-to-vector"> {
  let summary = "Write softmax kernels as loops over vectors";
  let description = [{
    Writes `cpu.softmax` on memrefs as loops over vectors. For each row, passes
    compute the maximum, the exponentials with their sum, and the quotients or
    logarithms, which the epilogue stores. A row of up to two vectors stays in
    registers. Along columns, each pass goes over all rows of one vector of
    columns.
  }];
}

def TablesToVector : Cpu_ToVector<"cpu-tables-to-vector"> {
  let summary = "Look up bytes in tables by vectors";
  let description = [{
    Rewrites a `linalg.generic` on memrefs that replaces each byte by its entry
    in a table of 256. Rows must be contiguous. Each vector of bytes is looked
    up by permutations of the table in registers. The rest of a row is computed
    under a mask, or 16 bytes and then one at a time.
  }];
  let statistics = [Statistic<"numWritten", "written", "ops written">];
  let dependentDialects = [
    "::ingot::IngotDialect",
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"];
}

def TransposesToVector : Cpu_ToVector<"cpu-transposes-to-vector"> {
  let summary = "Write transposes as loops over squares in registers";
  let description = [{
    Rewrites a `linalg.generic` on memrefs that moves elements of 8, 16 or 32
    bits, or computes new elements from them. The operands are contiguous along
    different loops. All other operands must be the same for each vector.

    A square of rows and columns is loaded, transposed in registers and stored.
    The op's body is computed on vectors of the wider type. The last square of a
    row or column ends with the row or column, so that some elements are written
    twice.
  }];
  let statistics = [Statistic<"numWritten", "written", "ops written">];
}

def RoundToInteger : Pass<"round-to-integer", "::mlir::ModuleOp"> {
  let summary = "Round vectors of f32 while they become integers";
  let description = [{
    `fptosi` of `roundeven` becomes one instruction, `llvm.intr.lrint`, because
    a run rounds to nearest, ties to even. Scalars keep both ops, because LLVM's
    vectorizer does not support the intrinsic.

    If a vector is only used to compute integers, `maximumf` and `minimumf` of
    it become `maxnumf` and `minnumf`: one instruction instead of three. NaN may
    then become any integer. `maximumf` with 0 may return either zero, and is
    one instruction, too.

    If floats become bytes only to become f32 again, they are rounded and never
    become integers. Narrowing to the byte must not wrap around. Epilogues that
    store f32 do this between a quantize and a dequantize, or between a
    requantize and a dequantize.

    Integers may be narrowed without wrapping around up to this pass. Then they
    may wrap around, because NaN becomes an integer that no byte holds.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // INGOT_PASSES_CPU_PASSES_TD
