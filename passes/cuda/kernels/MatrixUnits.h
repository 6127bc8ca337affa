//===- MatrixUnits.h - instructions of matrix units -------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CUDA_KERNELS_MATRIXUNITS_H
#define INGOT_PASSES_CUDA_KERNELS_MATRIXUNITS_H

#include "passes/cuda/kernels/Code.h"

namespace ingot::cuda {

/// Loads four matrices of 8 rows of 16 bytes by `ldmatrix`. Each lane gives the
/// address of a row in shared memory. Returns the lane's registers of factors
/// of `element`. f32 is rounded to tf32.
llvm::SmallVector<Value> loadMatrices(Code &code, Value address, Type element,
                                      bool isTransposed = false);

/// Adds the product of two factors of `element` to a lane's four sums of f32.
/// Uses `mma.sync` of 16 rows, 8 columns and a depth of 32 bytes (PTX ISA 8.0,
/// section 9.7.13).
llvm::SmallVector<Value> multiplyMatrices(Code &code, Type element,
                                          llvm::ArrayRef<Value> a,
                                          llvm::ArrayRef<Value> b,
                                          llvm::ArrayRef<Value> sums);

} // namespace ingot::cuda

#endif // INGOT_PASSES_CUDA_KERNELS_MATRIXUNITS_H
