//===- LoopKernels.h - kernels of linalg ops --------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CUDA_KERNELS_LOOPKERNELS_H
#define INGOT_PASSES_CUDA_KERNELS_LOOPKERNELS_H

#include "passes/cuda/kernels/ElementEmitter.h"
#include "passes/loops/Captures.h"
#include "passes/loops/KernelTable.h"
#include "passes/support/Reason.h"

namespace ingot::cuda {

/// Returns why a kernel cannot compute `op`, or nullopt.
Reason whyNoKernel(mlir::linalg::LinalgOp op, const loops::Captures &captures);

/// States the alignment of a parameter if threads access `count` elements of it
/// together, so that LLVM joins their accesses. With a larger alignment, LLVM
/// would also read elements behind them, which may lie outside of a buffer.
void markAligned(mlir::func::FuncOp kernel, unsigned parameter,
                 mlir::MemRefType type, int64_t count);

/// A kernel in the making. It has the memrefs of a linalg op as parameters.
struct LoopKernel {
  /// Creates the kernel of blocks of `threads`, and moves the builder into it.
  /// `count` is the number of neighboring elements that a thread accesses
  /// together.
  LoopKernel(mlir::OpBuilder &b, mlir::linalg::LinalgOp op,
             const loops::Captures &captures, int64_t threads,
             int64_t sharedBytes, int64_t count);

  /// Puts the kernel into the table, and replaces the op by a launch. A block
  /// does `perBlock` of the steps of `loops`.
  void launch(loops::KernelTable &table, llvm::StringRef prefix,
              llvm::ArrayRef<unsigned> loops, int64_t perBlock);
  /// Puts the kernel into the table, and replaces the op by a launch of
  /// `blocks`.
  void launch(loops::KernelTable &table, llvm::StringRef prefix,
              mlir::Value blocks);

  mlir::OpBuilder &b;
  mlir::linalg::LinalgOp op;
  llvm::SmallVector<mlir::Value> memrefs;
  mlir::func::FuncOp kernel;
  mlir::IRMapping outside;
};

} // namespace ingot::cuda

#endif // INGOT_PASSES_CUDA_KERNELS_LOOPKERNELS_H
