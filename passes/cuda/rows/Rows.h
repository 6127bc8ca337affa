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

/// Returns true if the op computes rows: softmax, norms, reductions and
/// poolings.
inline bool isRowKernel(mlir::Operation *op) {
  return mlir::isa<GroupNormOp, MomentsOp, NormalizeOp, PoolOp, ReduceOp,
                   RowNormOp, SoftmaxOp>(op);
}

/// The facts of such an op on memrefs. A row is a row along the last dimension,
/// a group of channels, or a vector of neighboring columns. The columns of a
/// pooling have the elements of a window.
struct Rows {
  explicit Rows(kernel::EpilogueOpInterface op);

  /// Gives open numbers values in the code of a kernel.
  void resolve(Code &code);

  kernel::EpilogueOpInterface op;
  StridedLayout src, dst;
  llvm::SmallVector<StridedLayout> operands;
  /// True if a row is a vector of neighboring columns.
  bool areColumns = false;
  /// The windows of a pooling.
  llvm::SmallVector<WindowDim> windows;
  /// Elements of each column; of a row along the last dimension or of a group:
  /// its contiguous parts.
  Number depth = 1;
  /// Parts of the depth that would be rows of their own.
  int64_t parts = 1;

  /// Returns true if only a run knows some size.
  bool isOpen() const;
  /// Returns the bytes of src, whose sizes are known.
  int64_t bytes() const;

  RowScheduleAttr schedule() const;
  Team team() const;
  /// Results that the threads of a row exchange.
  int64_t numResults() const;
  /// The dimensions of dst, the first ones, that have separate rows.
  llvm::ArrayRef<Number> outerSizes() const;
  /// Returns the rows at the same indices of these dimensions.
  int64_t unitsOfRow(int64_t vector) const;
  /// Returns the number of rows in the code of a kernel.
  Number rows(Code &code) const;
  /// Returns the number of rows; of usual ones if it is open.
  int64_t usualRows(int64_t vector) const;
  /// Returns the number of vectors of a row.
  Number vectors(int64_t vector) const;
  /// Contiguous elements that vectors divide.
  int64_t part() const { return src.sizes.back().known() / groups; }
  /// Returns the indices of the first element of vector `number` of a row.
  llvm::SmallVector<Value> indicesOf(Code &code, Value row, Value number) const;
  /// Returns the number of the first group of channels of a row.
  Value groupOf(Code &code, Value row) const;
  /// Returns the indices in dst of the first column of a row, where an op that
  /// reduces has its results.
  llvm::SmallVector<Value> columnsOf(Code &code, Value row) const;

private:
  /// Groups of channels that are no columns.
  int64_t groups = 1;
};

} // namespace ingot::cuda

#endif // INGOT_PASSES_CUDA_ROWS_ROWS_H
