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
    See the head of AttentionToVector.cpp.
  }];
}

def ContractionsToVector
    : Cpu_ToVector<"cpu-contractions-to-vector"> {
  let summary = "Write products that have no kernel as loops over tiles";
  let description = [{
    See the head of ContractionsToVector.cpp. Rewrites a `linalg.generic` on
    memrefs that adds up products of f32, f64, bf16, i32, int16 or bytes. Its
    loops are batch…, row, k, column, and any of them may be open. The right
    factor may be transposed.
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
    See the head of ConvToVector.cpp.
  }];
}

def WinogradToVector : Cpu_ToVector<"cpu-winograd-to-vector"> {
  let summary = "Write Winograd's algorithm as transforms and products";
  let description = [{
    See the head of WinogradToVector.cpp.
  }];
}

def PackedMatMulToVector : Cpu_ToVector<"cpu-packed-matmul-to-vector"> {
  let summary = "Write products with weights of a few bits as loops";
  let description = [{
    See the head of PackedMatMulToVector.cpp.
  }];
}

def RecurrentToVector : Cpu_ToVector<"cpu-recurrent-to-vector"> {
  let summary = "Write recurrences as loops over time and register tiles";
  let description = [{
    See the head of RecurrentToVector.cpp.
  }];
}

def DepthwiseToVector : Cpu_ToVector<"cpu-depthwise-to-vector"> {
  let summary = "Write depthwise convolution kernels as loops over vectors";
  let description = [{
    See the head of DepthwiseToVector.cpp.
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
    each element. Rewrites the bits of a `math.fma` of f32 whose addend is a
    whole number and whose result lies between 2^23 and 2^24. Neighbouring f32
    are 1 apart there. At such levels only `nn.requantize` uses `math.fma`, and
    always in this form.
  }];
  let dependentDialects = [
    "::ingot::IngotDialect", "::mlir::arith::ArithDialect"];
}

def GroupNormToVector : Cpu_ToVector<"cpu-group-norm-to-vector"> {
  let summary = "Write group norm kernels as loops over vectors";
  let description = [{
    See the head of GroupNormToVector.cpp.
  }];
}

def LoopsToVector : Cpu_ToVector<"cpu-loops-to-vector"> {
  let summary = "Write elementwise loops over short and open rows with vectors";
  let description = [{
    See the head of LoopsToVector.cpp. Rewrites a `linalg.generic` on memrefs
    without reductions and with elements of 32 bits. Its operands must be
    contiguous or constant along the innermost loop. Long rows are rewritten
    only if the body has functions.
  }];
  let statistics = [Statistic<"numWritten", "written", "ops written">];
}

def MatMulToVector : Cpu_ToVector<"cpu-matmul-to-vector"> {
  let summary = "Write matrix product kernels as loops over register tiles";
  let description = [{
    See the head of MatMulToVector.cpp.
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
  let statistics = [Statistic<"shared", "shared", "kernels used once more">];
  let dependentDialects = [
    "::ingot::IngotDialect",
    "::mlir::arith::ArithDialect", "::ingot::cpu::CpuDialect",
    "::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect"];
}

def PackSignsToVector : Cpu_ToVector<"cpu-pack-signs-to-vector"> {
  let summary = "Write the packing of signs as loops over words";
  let description = [{
    See the head of PackSignsToVector.cpp.
  }];
}

def PoolToVector : Cpu_ToVector<"cpu-pool-to-vector"> {
  let summary = "Write pooling kernels as loops over vectors";
  let description = [{
    See the head of PoolToVector.cpp.
  }];
}

def ReduceToVector : Cpu_ToVector<"cpu-reduce-to-vector"> {
  let summary = "Write reduction kernels as loops over vectors";
  let description = [{
    See the head of ReduceToVector.cpp.
  }];
}

def BandMatMulToVector : Cpu_ToVector<"cpu-band-matmul-to-vector"> {
  let summary = "Write products of banded matrices as loops over vectors";
  let description = [{
    See the head of BandMatMulToVector.cpp.
  }];
}

def ResampleToVector : Cpu_ToVector<"cpu-resample-to-vector"> {
  let summary = "Write resampling kernels as loops over vectors";
  let description = [{
    See the head of ResampleToVector.cpp.
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
    See the head of RoundBlocksToVector.cpp.
  }];
}

def RowNormToVector : Cpu_ToVector<"cpu-row-norm-to-vector"> {
  let summary = "Write layer and RMS norm kernels as loops over vectors";
  let description = [{
    See the head of RowNormToVector.cpp.
  }];
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
                        "For tests: draw schedules at random, others for "
                        "each number but 0">];
  let statistics = [
    Statistic<"chosen", "chosen", "schedules chosen">,
    Statistic<"given", "given", "schedules that were there">];
  let dependentDialects = ["::ingot::IngotDialect", "::ingot::cpu::CpuDialect"];
}

def SoftmaxToVector : Cpu_ToVector<"cpu-softmax-to-vector"> {
  let summary = "Write softmax kernels as loops over vectors";
  let description = [{
    See the head of SoftmaxToVector.cpp.
  }];
}

def TablesToVector : Cpu_ToVector<"cpu-tables-to-vector"> {
  let summary = "Look bytes up in tables by vectors";
  let description = [{
    See the head of TablesToVector.cpp. Rewrites a `linalg.generic` on memrefs
    that replaces each byte by its entry in a table of 256. Rows must be
    contiguous.
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
    See the head of TransposesToVector.cpp. Rewrites a `linalg.generic` on
    memrefs that moves elements of 8, 16 or 32 bits, or computes new elements
    from them. The operands are contiguous along different loops. All other
    operands must be the same for each vector.
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
    become integers. Epilogues that store f32 do this between a quantize and a
    dequantize.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // INGOT_PASSES_CPU_PASSES_TD
