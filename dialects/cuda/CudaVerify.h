//===- CudaVerify.h - verifiers that cuda ops share -------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_CUDA_CUDAVERIFY_H
#define INGOT_DIALECTS_CUDA_CUDAVERIFY_H

#include "dialects/cuda/CudaDialect.h"

namespace ingot::cuda {

/// Verifies the epilogue of a kernel whose sums are f32: its arguments, the
/// value that it yields, and its operands.
mlir::LogicalResult verifyEpilogue(kernel::EpilogueOpInterface op,
                                   mlir::Value dst);

} // namespace ingot::cuda

#endif // INGOT_DIALECTS_CUDA_CUDAVERIFY_H
