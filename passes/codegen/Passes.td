//===- codegen/Passes.td - passes that write code ----------*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CODEGEN_PASSES_TD
#define INGOT_PASSES_CODEGEN_PASSES_TD

include "mlir/Pass/PassBase.td"

class Cpu_ToVector<string flag> : Pass<flag, "::mlir::ModuleOp"> {
  let dependentDialects = [
    "::ingot::IngotDialect",
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

class Cpu_RowsToVector<string flag> : Pass<flag, "::mlir::ModuleOp"> {
  let dependentDialects = [
    "::ingot::IngotDialect",
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"];
}

def AttentionToVector : Cpu_RowsToVector<"cpu-attention-to-vector"> {
  let summary = "Write attention kernels as loops over register tiles";
  let description = [{
    See the head of AttentionToVector.cpp.
  }];
}

def ConvToVector : Cpu_ToVector<"cpu-conv-to-vector"> {
  let summary = "Write convolution kernels as loops over register tiles";
  let description = [{
    See the head of ConvToVector.cpp. Tiles are those of Schedule.cpp for the CPU
    level of the module's `ingot.target`.
  }];
}

def DepthwiseToVector : Cpu_ToVector<"cpu-depthwise-to-vector"> {
  let summary = "Write depthwise convolution kernels as loops over vectors";
  let description = [{
    See the head of DepthwiseToVector.cpp.
  }];
}

def MatMulToVector : Cpu_ToVector<"cpu-matmul-to-vector"> {
  let summary = "Write matrix product kernels as loops over register tiles";
  let description = [{
    See the head of MatMulToVector.cpp.
  }];
}

def OutlineLinalg : Pass<"outline-linalg", "::mlir::ModuleOp"> {
  let summary = "Give every linalg op of the run a kernel of its own";
  let description = [{
    A linalg op on memrefs in the function that is handed the run's call becomes
    a `cpu.launch` of a private function, which equal ops share. Where there is
    enough to do, the outermost parallel loop is split into tasks; not in modules
    that oneDNN, with its own threads, works for (`ingot.needs_onednn`).
  }];
  let statistics = [Statistic<"shared", "shared", "kernels used once more">];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::ingot::cpu::CpuDialect", "::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect"];
}

def GroupNormToVector : Cpu_RowsToVector<"cpu-group-norm-to-vector"> {
  let summary = "Write group norm kernels as loops over vectors";
  let description = [{
    See the head of GroupNormToVector.cpp.
  }];
}

def PoolToVector : Cpu_RowsToVector<"cpu-pool-to-vector"> {
  let summary = "Write pooling kernels as loops over vectors";
  let description = [{
    See the head of PoolToVector.cpp.
  }];
}

def ReduceToVector : Cpu_RowsToVector<"cpu-reduce-to-vector"> {
  let summary = "Write reduction kernels as loops over vectors";
  let description = [{
    See the head of ReduceToVector.cpp.
  }];
}

def RowNormToVector : Cpu_RowsToVector<"cpu-row-norm-to-vector"> {
  let summary = "Write layer and RMS norm kernels as loops over vectors";
  let description = [{
    See the head of RowNormToVector.cpp.
  }];
}

def SoftmaxToVector : Cpu_RowsToVector<"cpu-softmax-to-vector"> {
  let summary = "Write softmax kernels as loops over vectors";
  let description = [{
    See the head of SoftmaxToVector.cpp.
  }];
}

def OutlineKernels : Pass<"outline-kernels", "::mlir::ModuleOp"> {
  let summary = "Give every kernel a function of its own, equal ones the same";
  let description = [{
    A cpu op on memrefs becomes a `cpu.launch` of a private function that takes
    the op's operands and the number of a task. Ops that differ in their operands
    and locations only share a function.
  }];
  let statistics = [Statistic<"shared", "shared", "kernels used once more">];
  let dependentDialects = [
    "::ingot::IngotDialect",
    "::mlir::arith::ArithDialect", "::ingot::cpu::CpuDialect",
    "::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect"];
}

def LinalgRelaxReductions
    : Pass<"linalg-relax-reductions"> {
  let summary = "Let sums and products of reductions be reordered";
  let description = [{
    Without it no reduction of floats becomes vector code. The order is still
    the same in every run.
  }];
}

def ApproximateMath : Pass<"approximate-math", "::mlir::ModuleOp"> {
  let summary = "Replace frequent transcendental functions by polynomials";
  let description = [{
    `exp`, `log`, `log1p`, `erf` and `tanh` of f32, on which loops over tensors
    spend their time: polynomials and their quotients become vector code, calls
    of libm do not. Other functions, and doubles, stay calls. Errors are at most
    2 ulp for `exp` and `log`, 6 ulp for `erf` and `tanh`.
  }];
  let dependentDialects = ["::ingot::IngotDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::vector::VectorDialect"];
}

def GuardDivision : Pass<"guard-division"> {
  let summary = "Keep integer divisions from ending the process";
  let description = [{
    A processor traps on an integer division by zero, and on the least number
    divided by minus one; ONNX leaves both open. Here `x / 0` and `x % 0` are 0,
    and `x / -1` wraps around. Divisors known to be others stay as they are.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def OutlineLoops : Pass<"outline-loops", "::mlir::ModuleOp"> {
  let summary = "Give each loop nest a function of its own";
  let description = [{
    LLVM's work on a function grows faster than its size: one function with the
    loops of all of a model's layers takes minutes. Views of buffers at known
    offsets are repeated inside, so that LLVM still sees what does not alias.
    Loops that allocate memory or call something stay where they are.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect"];
  let statistics = [
    Statistic<"outlinedLoops", "outlined-loops", "Loop nests that were outlined">];
}

def IngotConvertToLLVM : Pass<"ingot-convert-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Convert what is left to the LLVM dialect";
  let description = [{
    Upstream's conversions in one go. Memory of dynamic size comes from the host,
    through the function's last argument, the run's `ingot_abi_call`.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // INGOT_PASSES_CODEGEN_PASSES_TD
