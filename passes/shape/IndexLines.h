//===- IndexLines.h - indices that form a range -----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SHAPE_INDEXLINES_H
#define INGOT_PASSES_SHAPE_INDEXLINES_H

#include "passes/shape/SameSizes.h"

#include "mlir/IR/OpDefinition.h"

namespace ingot::shape {

/// Indices along one coordinate that form a range: `start`, `start + step`, …
/// along one dimension of the index tensor, and constant along all others.
struct IndexLine {
  mlir::OpFoldResult start;
  /// Difference of neighbouring indices. Positive, or 0 if all are `start`.
  int64_t step = 0;
  int64_t dim = kNoDim;
  /// A rank-1 tensor whose elements are 0, 1, …, if all indices are among its
  /// elements. Then no index is outside of a dimension with the size of this
  /// tensor.
  mlir::Value counted;

  static constexpr int64_t kNoDim = -1;
  bool isConstant() const { return dim == kNoDim; }
};

/// Returns the indices 0, 1, … along a dimension.
IndexLine positionsOf(mlir::MLIRContext *context, int64_t dim);
/// Returns the range that `indices` form, or nullopt if they are not known to
/// form one.
std::optional<IndexLine> lineOf(mlir::Value indices, const SameSizes &sizes);
/// Returns the range of each coordinate of indices `(…, count)`. Exporters
/// write an assignment to a slice in this way: they expand ranges and
/// concatenate them. Returns nullopt if a coordinate is not known to be a
/// range.
std::optional<llvm::SmallVector<IndexLine>> linesOf(mlir::Value indices,
                                                    const SameSizes &sizes);

} // namespace ingot::shape

#endif // INGOT_PASSES_SHAPE_INDEXLINES_H
