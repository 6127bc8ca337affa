//===- FollowImage.h - ops that move the result of a resize -----*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_LOWER_FOLLOWIMAGE_H
#define INGOT_PASSES_CPU_LOWER_FOLLOWIMAGE_H

#include "passes/support/ResampledBand.h"

namespace ingot::cpu {

/// The result of a product of a banded matrix with dimension `dim` of an image.
struct ResizedImage {
  support::Sizes sizes;
  int64_t dim;
  /// The order of the channels behind `dim`; empty for the original order.
  llvm::SmallVector<int64_t> order;
  /// The value of the model that the product computes.
  mlir::Value value;
  /// The first row of the matrix to compute, and the step to the next row.
  /// `sizes[dim]` is the count of rows.
  int64_t firstRow = 0, rowStep = 1;

  mlir::RankedTensorType type() const { return support::typeOf(value); }
  int64_t channelsDim() const { return dim + 1; }
  support::TakenRows rows() const { return {firstRow, rowStep, sizes[dim]}; }
};

/// Follows a reshape that is the only user of the product, and takes its shape.
/// One dimension of the shape must be that of the matrix. At most one size
/// before it may be open.
void followReshape(mlir::OpBuilder &b, ResizedImage &image);

/// Follows the users of the product that only select rows or reorder channels.
void followMovements(ResizedImage &image);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_LOWER_FOLLOWIMAGE_H
