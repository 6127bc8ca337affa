//===- Rows.h - rows of elements, as kernels see them -----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CUDA_ROWS_ROWS_H
#define INGOT_PASSES_CUDA_ROWS_ROWS_H

#include "passes/cuda/kernels/Team.h"
#include "passes/cuda/products/Product.h"

namespace ingot::cuda {

/// Returns true if the op is `cuda.softmax`, `cuda.row_norm` or
/// `cuda.group_norm`.
inline bool isRowKernel(mlir::Operation *op) {
  return mlir::isa<GroupNormOp, RowNormOp, SoftmaxOp>(op);
}

/// The facts of such an op on memrefs.
struct Rows {
  explicit Rows(kernel::EpilogueOpInterface op);

  /// Gives open numbers values in the code of a kernel.
  void resolve(Code &code);

  kernel::EpilogueOpInterface op;
  StridedLayout src, dst;
  llvm::SmallVector<StridedLayout> operands;
  /// Groups of channels of a group norm; 0 for rows along the last dimension.
  int64_t groups = 0;

  RowScheduleAttr schedule() const;
  Team team() const;
  /// Results that the threads of a row compute together.
  int64_t numReductions() const;
  /// Returns the number of rows in the code of a kernel.
  Number rows(Code &code) const;
  /// Returns the number of rows; of usual ones if it is open.
  int64_t usualRows() const;
  /// Elements of a row, and of one of its contiguous parts.
  int64_t length() const;
  int64_t part() const;
  /// Returns the indices of the first element of vector `number` of a row.
  llvm::SmallVector<Value> indicesOf(Code &code, Value row, Value number) const;
};

} // namespace ingot::cuda

#endif // INGOT_PASSES_CUDA_ROWS_ROWS_H
