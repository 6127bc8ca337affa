//===- CudaSupport.h - ops that kernels of GPUs support ---------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CUDA_LOWER_CUDASUPPORT_H
#define INGOT_PASSES_CUDA_LOWER_CUDASUPPORT_H

#include "passes/support/Reason.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot::cuda {

/// Returns true if there are kernels for ops of this kind.
bool isCudaKind(mlir::Operation *op);

/// Returns why no kernel computes `op`, so that each element of its result is
/// computed by a thread. Precondition: `isCudaKind(op)`.
Reason whyNotCudaKernel(mlir::Operation *op);

/// Returns why a kernel cannot count the elements of operands and results of
/// `op`: sizes are open or too large.
Reason whyNotCounted(mlir::Operation *op);

/// Returns true if a tensor of the function has a size that only a run knows.
/// Its buffer is in host memory, and so may be the buffers of ops around it.
/// Kernels of products would need copies of them, which nothing makes yet.
bool hasOpenSizes(mlir::func::FuncOp function);

/// Returns why `op` does not become a kernel: `ingot.backend` names another
/// backend, or no kernel computes it.
Reason whyNotToCuda(mlir::Operation *op);

} // namespace ingot::cuda

#endif // INGOT_PASSES_CUDA_LOWER_CUDASUPPORT_H
