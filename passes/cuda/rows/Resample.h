//===- Resample.h - resampling, as kernels see it ---------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CUDA_ROWS_RESAMPLE_H
#define INGOT_PASSES_CUDA_ROWS_RESAMPLE_H

#include "passes/cuda/products/Product.h"

namespace ingot::cuda {

/// The facts of `cuda.resample` on memrefs. A thread computes a vector of
/// neighboring channels, or one element of a row without channels.
struct Resample {
  explicit Resample(ResampleOp op);

  /// Gives open numbers values in the code of a kernel.
  void resolve(Code &code);

  ResampleOp op;
  StridedLayout src, dst;
  llvm::SmallVector<StridedLayout> positions, weights, operands;

  RowScheduleAttr schedule() const {
    return op->getAttrOfType<RowScheduleAttr>("schedule");
  }
  /// Returns the elements of the widest access of src and dst.
  int64_t widestVector() const;
  /// Returns the sizes of dst. The last one counts vectors.
  llvm::SmallVector<Number> gridSizes(int64_t vector) const;
  /// Returns the number of threads; of usual ones if it is open.
  int64_t usualThreads(int64_t vector) const {
    return usualProduct(gridSizes(vector));
  }
};

} // namespace ingot::cuda

#endif // INGOT_PASSES_CUDA_ROWS_RESAMPLE_H
