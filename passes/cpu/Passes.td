//===- cpu/Passes.td - code of kernels of our own ----------*- tablegen -*-===//
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
    See the head of ContractionsToVector.cpp. For a `linalg.generic` on memrefs
    that sums up products of f32, f64, bf16, i32, words or bytes, with the loops
    batch…, row, k, column; any of them may be open, and the right factor
    transposed.
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
  let summary = "Write minimal filtering as transforms and products";
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
  let summary = "Write AMX and dot product instructions as loops of others";
  let description = [{
    For tests of kernels on CPUs that lack the instructions: code that is tiled
    and addressed as before, in which `amx` ops, `x86vector.avx512.dot` and the
    intrinsics that multiply fours of bytes, convert and pack integers are loops
    over vectors. An AMX tile is memory on the stack; a product adds to its
    accumulator's. The order of sums is that of Intel's manual; denormal numbers
    are kept, while AMX and `vdpbf16ps` take them as zero.

    Passes behind it see the CPU level `on` in the module's `ingot.target`.
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
    Rounding only for levels without AVX512-BF16, where LLVM calls a function an
    element.
  }];
  let dependentDialects = [
    "::ingot::IngotDialect", "::mlir::arith::ArithDialect"];
}

def ExpandFMA : Pass<"expand-fma", "::mlir::ModuleOp"> {
  let summary = "Multiply and add in f64 where there is no fused multiply-add";
  let description = [{
    For levels without the instruction, where LLVM calls a function an element:
    the bits of a `math.fma` of f32 whose addend is a whole number and whose
    result lies between 2^23 and 2^24, where f32 has a step of 1.
    `nn.requantize` computes no other, and nothing else does at such levels.
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
    See the head of LoopsToVector.cpp. For a `linalg.generic` on memrefs without
    reductions, of 32 bits an element, whose operands are contiguous along the
    innermost loop or the same for all of it. Long rows are written if there are
    functions in the body.
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
  let summary = "Give every kernel a function of its own, equal ones the same";
  let description = [{
    A cpu op on memrefs becomes a `cpu.launch` of a private function that takes
    the op's operands and the number of a task. Ops that differ in their
    operands and locations only share a function. The op's schedule says how
    many tasks there are.
  }];
  let statistics = [Statistic<"shared", "shared", "kernels used once more">];
  let dependentDialects = [
    "::ingot::IngotDialect",
    "::mlir::arith::ArithDialect", "::ingot::cpu::CpuDialect",
    "::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect"];
}

def PackSignsToVector : Cpu_ToVector<"cpu-pack-signs-to-vector"> {
  let summary = "Write what packs signs as loops over words";
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
  let summary = "Write what rounds blocks of rows as vectors";
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
    `ingot.target`, and keeps one that is there. What splits kernels and what
    writes their code decides nothing of it: they read the attribute. A schedule
    that the target has neither registers nor instructions for is reported.
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
    See the head of TablesToVector.cpp. For a `linalg.generic` on memrefs that
    replaces each byte by what stands there in a table of 256, of rows that are
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
  let summary = "Write transposes as loops over squares turned in registers";
  let description = [{
    See the head of TransposesToVector.cpp. For a `linalg.generic` on memrefs
    that moves elements of 8, 16 or 32 bits, or computes others of them, between
    operands that are contiguous along different loops. Its other operands are
    the same for each vector.
  }];
  let statistics = [Statistic<"numWritten", "written", "ops written">];
}

def RoundToInteger : Pass<"round-to-integer", "::mlir::ModuleOp"> {
  let summary = "Round vectors of f32 while they become integers";
  let description = [{
    `fptosi` of `roundeven` is one instruction, `llvm.intr.lrint`: a run rounds
    to nearest, halves to even. Scalars keep both, since LLVM's vectorizer has
    no vectors of the intrinsic. Where a vector only becomes integers,
    `maximumf` and `minimumf` of it are `maxnumf` and `minnumf`, one instruction
    instead of three: what is no number may become any. `maximumf` with 0 may
    be either zero, and is one instruction, too. Where a byte is made of a
    vector only to become f32 again, as an epilogue that stores f32 does between
    pairs, it is rounded, and never is an integer.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // INGOT_PASSES_CPU_PASSES_TD
