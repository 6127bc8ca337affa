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

/// The most elements of a factor or result: kernels count them with 32 bits.
constexpr int64_t kMaxElements = int64_t(1) << 30;

/// Returns why a kernel cannot count the elements of operands and results of
/// `op`: a known size is too large. A run checks open sizes.
Reason whyNotCounted(mlir::Operation *op);

/// Returns why `op` does not become a kernel: `ingot.backend` names another
/// backend, or no kernel computes it.
Reason whyNotToCuda(mlir::Operation *op);

} // namespace ingot::cuda

#endif // INGOT_PASSES_CUDA_LOWER_CUDASUPPORT_H
