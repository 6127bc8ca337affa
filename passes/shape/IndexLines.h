//===- IndexLines.h - indices that are counted ------------------*- C++ -*-===//
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

/// Indices of one coordinate: `start`, `start + step`, … along one dimension of
/// the tensor that has them, and the same along all others.
struct IndexLine {
  mlir::OpFoldResult start;
  /// Above zero, unless all are `start`.
  int64_t step = 0;
  int64_t dim = kNoDim;
  /// A tensor of one dimension whose elements are their positions, if all
  /// indices are such: none is outside of a dimension of its size.
  mlir::Value counted;

  static constexpr int64_t kNoDim = -1;
  bool isConstant() const { return dim == kNoDim; }
};

/// The positions along a dimension.
IndexLine positionsOf(mlir::MLIRContext *context, int64_t dim);
/// The line that all of `indices` are; nothing if they are not known to be one.
std::optional<IndexLine> lineOf(mlir::Value indices, const SameSizes &sizes);
/// The lines of each coordinate of indices `(…, count)`, as exporters write a
/// slice that is assigned to: expanded ranges, joined. Nothing if some
/// coordinate is not known to be a line.
std::optional<llvm::SmallVector<IndexLine>> linesOf(mlir::Value indices,
                                                    const SameSizes &sizes);

} // namespace ingot::shape

#endif // INGOT_PASSES_SHAPE_INDEXLINES_H
