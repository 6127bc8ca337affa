//===- cuda/OutlinePasses.td - kernels without epilogues ---*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CUDA_OUTLINEPASSES_TD
#define INGOT_PASSES_CUDA_OUTLINEPASSES_TD

include "mlir/Pass/PassBase.td"

/// A pass that turns ops into launches of kernels, whose code it writes.
class OutlineKernelsPass<string argument>
    : Pass<argument, "::mlir::ModuleOp"> {
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::ingot::cuda::CudaDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::gpu::GPUDialect",
                           "::ingot::IngotDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::NVVM::NVVMDialect",
                           "::mlir::scf::SCFDialect"];
  let statistics = [
      Statistic<"launched", "launched", "ops that are launched as kernels">,
      Statistic<"shared", "shared", "kernels that an equal op had made">];
}

def OutlineScan : OutlineKernelsPass<"cuda-outline-scan"> {
  let summary = "Move running sums into kernels";
  let description = [{
    Each `cuda.scan` on memrefs becomes a kernel of the module
    `@ingot_cuda_kernels`, and leaves a `cuda.launch`. A thread takes a line of
    the second dimension. A block takes a long row, or a very long column if
    there are few. Its threads take neighboring elements each, and exchange
    their sums through shared memory. Equal kernels are shared.
  }];
}

def OutlineScatter : OutlineKernelsPass<"cuda-outline-scatter"> {
  let summary = "Move updates of slices into kernels";
  let description = [{
    Each `cuda.scatter` on memrefs becomes a kernel of the module
    `@ingot_cuda_kernels`, and leaves a `cuda.launch`. A thread has an item and
    an element of a slice. It does nothing if another item of its position comes
    first. Otherwise it makes the updates of all items of the position, in
    order, so that two threads never write one element. If updates replace each
    other, the thread of the last one makes it. Equal kernels are shared.
  }];
}

def OutlineSort : OutlineKernelsPass<"cuda-outline-sort"> {
  let summary = "Move sorts into kernels";
  let description = [{
    Each `cuda.sort` on memrefs becomes launches of kernels of the module
    `@ingot_cuda_kernels`. Blocks sort pieces of up to 4,096 items in shared
    memory (bitonic sort). Further kernels merge pairs of sorted pieces: a
    thread finds the place of an item by a binary search in the other piece.
    If only a run knows the number of items, host code leaves out merges that
    are not needed. Equal kernels are shared.
  }];
}

def OutlineTopK : OutlineKernelsPass<"cuda-outline-top-k"> {
  let summary = "Move sorts of rows into kernels";
  let description = [{
    Each `cuda.top_k` on memrefs becomes a kernel of the module
    `@ingot_cuda_kernels`, and leaves a `cuda.launch`. A block takes a row. It
    sorts items in shared memory, each of which has the key of an element and
    its position (bitonic sort). A key of 64 bits is read again from the row
    instead. A long row, or one of open length, is taken in pieces: the best
    items so far are sorted together with those of the next piece. Equal kernels
    are shared.
  }];
}

def OutlineTransposes : OutlineKernelsPass<"cuda-outline-transposes"> {
  let summary = "Move transposes into kernels";
  let description = [{
    A linalg op without reductions becomes a kernel if it reads an operand in
    another order than it writes its result: their innermost dimensions differ.
    A block takes a tile of both dimensions. It loads the tile in the order of
    the operand into shared memory, and computes the op in the order of the
    result. So neighboring threads read and write neighboring elements. Rows of
    the tile are as far apart as gives the fewest conflicts of banks.

    The op's body is computed as it is, so a transpose takes elementwise ops
    with it. Operands in the order of the result are read as in
    `cuda-outline-grids`. Sizes that only a run knows are parameters of the
    kernel.

    An op stays in place if the cost model finds a grid faster: if it is small,
    or if a dimension has so few elements that a warp reads whole sectors. The
    decision trace has the reason. Equal kernels are shared.
  }];
  let options = [
      Option<"seed", "seed", "uint64_t", "0",
             "draw tiles at random with this seed; 0: choose them">];
}

#endif // INGOT_PASSES_CUDA_OUTLINEPASSES_TD
