//===- PartSum.h - a sum of parts, as kernels see it ------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CUDA_PRODUCTS_PARTSUM_H
#define INGOT_PASSES_CUDA_PRODUCTS_PARTSUM_H

#include "passes/cuda/products/Product.h"

namespace ingot::cuda {

/// The facts of `cuda.sum_parts` on memrefs.
struct PartSum {
  /// Threads of a block. Results are small, so small blocks reach more
  /// multiprocessors.
  static constexpr int64_t kThreads = 64;

  explicit PartSum(SumPartsOp op);

  SumPartsOp op;
  StridedLayout src, dst;
  llvm::SmallVector<StridedLayout> operands;
  /// Neighboring elements of a thread.
  int64_t vector;

  int64_t vectors() const;
  int64_t blocks() const;
};

} // namespace ingot::cuda

#endif // INGOT_PASSES_CUDA_PRODUCTS_PARTSUM_H
