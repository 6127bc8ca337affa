//===- loops/Passes.td - from nn to linalg -----------------*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LOOPS_PASSES_TD
#define INGOT_PASSES_LOOPS_PASSES_TD

include "mlir/Pass/PassBase.td"

def FillSplats : Pass<"linalg-fill-splats"> {
  let summary = "Fill buffers that hold one number rather than store them";
  let description = [{
    A constant that is one number everywhere takes no memory in the compiler,
    but all of its size in the artifact. Where it is large, each of its uses
    gets a buffer of the arena that is filled in the run. Constants stay that a
    kernel reads where they lie in the weights
    (`KernelOpInterface::readsStoredConstants`).
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
  let options = [
    Option<"minBytes", "min-bytes", "int64_t", "65536",
           "Smaller constants are stored">];
  let statistics = [Statistic<"filled", "filled", "Constants that are filled">];
}

def FuseElementwise : Pass<"fuse-elementwise"> {
  let summary = "Fuse elementwise ops on tensors, up to a size";
  let description = [{
    Upstream's `linalg-fuse-elementwise-ops`, whose ops may grow without bounds:
    each step copies what was fused so far, and LLVM then has all of it in one
    block. Ops of more than `most-ops` together, a function like `exp` counting
    as eight, stay apart, and so do products and what computes their factors,
    transposes and functions.
  }];
  let options = [Option<"mostOps", "most-ops", "int64_t", /*default=*/"256",
                        "Ops of a body">];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"];
}

def NNToLinalg : Pass<"nn-to-linalg", "::mlir::ModuleOp"> {
  let summary = "Lower nn ops to linalg, tensor, arith and math";
  let description = [{
    Also drops the sign of integer types: `ui8` tensors become `i8`, their ops
    having been lowered by sign. Elementwise ops become `linalg.generic`s with
    broadcasting in the indexing maps; a dimension that may or may not broadcast
    in a run is decided there.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"];
}

def RelaxReductions : Pass<"linalg-relax-reductions"> {
  let summary = "Let sums and products of reductions be reordered";
  let description = [{
    Without it no reduction of floats becomes vector code. The order is still
    the same in every run.
  }];
}

def CollapseLoops : Pass<"collapse-loops"> {
  let summary = "Make one loop of loops over neighbouring elements";
  let description = [{
    Where two loops of a `linalg.generic` on memrefs go through all operands as
    one would, they become one: a row of 10 elements ends in the middle of a
    vector, and 14 rows of 10 in contiguous memory are one of 140. Of an operand
    that is written over there is one view, so that LLVM makes vectors of it.

    ```mlir
    // over 143 x 14 x 10; collapsed: over 20020
    linalg.generic {indexing_maps = [#id3, #id3], …}
        ins(%x : memref<143x14x10xf32>) outs(%y : memref<143x14x10xf32>)
    ```
  }];
  let statistics = [
    Statistic<"numCollapsed", "collapsed", "ops with fewer loops">];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::memref::MemRefDialect"];
}

def OutlineLinalg : Pass<"outline-linalg", "::mlir::ModuleOp"> {
  let summary = "Give every linalg op of the run a kernel of its own";
  let description = [{
    A linalg op on memrefs in the function that is handed the run's call becomes
    a `cpu.launch` of a private function, which equal ops share. Where there is
    enough to do, the outermost parallel loop is split into tasks; not in
    modules that call a library with threads of its own (`ingot.libraries`).
  }];
  let statistics = [Statistic<"shared", "shared", "kernels used once more">];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::ingot::cpu::CpuDialect", "::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect"];
}

def SpecializeLoops : Pass<"specialize-loops"> {
  let summary = "Ask once, in front of loops, what is known there";
  let description = [{
    See the head of SpecializeLoops.cpp. For `linalg.generic` ops on memrefs
    whose body reads elements at `select(single, 0, index)`, or branches.

    ```mlir
    scf.if %none {
      linalg.generic … ins(%x, %y : memref<?x?xf32>, memref<?x?xf32>) …
    } else {
      …
    }
    ```
  }];
  let statistics = [
    Statistic<"numSpecialized", "specialized", "ops that became several">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"];
}

def WidenRows : Pass<"widen-rows"> {
  let summary = "Make one row of several short ones";
  let description = [{
    See the head of WidenRows.cpp. For elementwise `linalg.generic` ops on
    memrefs over short rows, where some operands are the same row each time.

    ```mlir
    // over 1152 x 8; with vectors of 16 lanes, over 72 x 128
    linalg.generic {indexing_maps = [(d0, d1) -> (d0, d1), (d0, d1) -> (d1), …],
                    …} ins(%x, %s : memref<1152x8xf32>, memref<8xf32>) …
    ```
  }];
  let statistics = [Statistic<"numWidened", "widened", "ops of longer rows">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"];
}

#endif // INGOT_PASSES_LOOPS_PASSES_TD
