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
  let summary =
      "Fill large constant buffers at run time instead of storing them";
  let description = [{
    A constant whose elements are all equal takes hardly any memory in the
    compiler, but its full size in the artifact. If it is large, each of its
    uses gets a buffer in the arena, which the run fills. A constant stays if a
    kernel reads it from the stored weights
    (`KernelOpInterface::readsStoredConstants`).
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
  let options = [
    Option<"minBytes", "min-bytes", "int64_t",
           "::ingot::threshold::filledConstant",
           "Constants below this size are stored">];
  let statistics = [Statistic<"filled", "filled", "Constants that are filled">];
}

def FuseElementwise : Pass<"fuse-elementwise"> {
  let summary = "Fuse elementwise ops on tensors, up to a size";
  let description = [{
    Upstream's `linalg-fuse-elementwise-ops` with a limit. Without one, bodies
    grow without bounds: each step copies the ops that were fused before, and
    LLVM then gets all of them in one block.

    Two ops stay apart if they have more than `most-ops` ops together, where a
    function such as `exp` counts as eight. Products also stay apart from the
    ops that compute their factors, and transposes from functions.
  }];
  let options = [Option<"mostOps", "most-ops", "int64_t", /*default=*/"256",
                        "Most ops in a body">];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"];
}

def NNToLinalg : Pass<"nn-to-linalg", "::mlir::ModuleOp"> {
  let summary = "Lower nn ops to linalg, tensor, arith and math";
  let description = [{
    Elementwise ops become `linalg.generic`s with broadcasting in the indexing
    maps. If only the run knows whether a dimension broadcasts, the run decides.
    The pass also drops the signs of integer types, after their ops were lowered
    by sign: `ui8` tensors become `i8`.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"];
}

def RelaxReductions : Pass<"linalg-relax-reductions"> {
  let summary = "Let sums and products of reductions be reordered";
  let description = [{
    Sets fast-math flags that allow sums and products of reductions to be
    reordered. Without them, no reduction of floats becomes vector code. Every
    run still uses the same order.
  }];
}

def CollapseLoops : Pass<"collapse-loops"> {
  let summary = "Make one loop of loops over neighbouring elements";
  let description = [{
    Merges two loops of a `linalg.generic` on memrefs into one if all operands
    are contiguous across them. A row of 10 elements ends in the middle of a
    vector, while 14 such rows in contiguous memory form one row of 140
    elements. An operand that is both read and written gets a single view, so
    that LLVM can vectorize.

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
    A linalg op on memrefs in the function that has the run's call becomes a
    `cpu.launch` of a private function. Equal ops share a function. If an op has
    enough work, its outermost parallel loop is split into tasks. It is not
    split in modules that call a library with threads of its own
    (`ingot.libraries`).
  }];
  let statistics = [Statistic<"shared", "shared", "kernels that are reused">];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::ingot::cpu::CpuDialect", "::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect"];
}

def SpecializeLoops : Pass<"specialize-loops"> {
  let summary =
      "Decide conditions in front of loops instead of for each element";
  let description = [{
    Rewrites `linalg.generic` ops on memrefs whose bodies test a condition that
    is known before the loop. There are two kinds:

    - A branch in the body. One loop has the branch taken, a second loop has it
      not taken. An example is the test if a gathered table of dynamic size is
      empty.
    - An element that is read at `select(single, 0, index)`, because only a run
      knows if a dimension has size 1 and is broadcast. Separate loops serve
      operands without such a dimension, and operands whose innermost dimension
      is, or is not, broadcast.

    ```mlir
    scf.if %none {
      linalg.generic … ins(%x, %y : memref<?x?xf32>, memref<?x?xf32>) …
    } else {
      …
    }
    ```
  }];
  let statistics = [
    Statistic<"numSpecialized", "specialized", "ops that were split">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"];
}

def WidenRows : Pass<"widen-rows"> {
  let summary = "Merge several short rows into one long row";
  let description = [{
    Rewrites elementwise `linalg.generic` ops on memrefs over short rows. A row
    of 8 elements is half a vector of 16 lanes. If rows are contiguous in
    memory, as pixels of few channels are, several of them form a long row of
    whole vectors. Operands that are equal for each row are repeated to this
    length. The remaining rows are computed as one. If the length of rows is
    dynamic, the run decides if they are short and contiguous.

    ```mlir
    // over 1152 x 8; with vectors of 16 lanes, over 72 x 128
    linalg.generic {indexing_maps = [(d0, d1) -> (d0, d1), (d0, d1) -> (d1), …],
                    …} ins(%x, %s : memref<1152x8xf32>, memref<8xf32>) …
    ```
  }];
  let statistics = [Statistic<"numWidened", "widened", "ops with wider rows">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"];
}

#endif // INGOT_PASSES_LOOPS_PASSES_TD
