//===- FollowPicture.h - what moves the result of a resize ------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_LOWER_FOLLOWPICTURE_H
#define INGOT_PASSES_CPU_LOWER_FOLLOWPICTURE_H

#include "passes/support/ResampledBand.h"

namespace ingot::cpu {

/// The result of a product of a banded matrix and dimension `dim`.
struct Picture {
  support::Sizes sizes;
  int64_t dim;
  /// The order of the channels behind `dim`; empty if they stay as they are.
  llvm::SmallVector<int64_t> order;
  /// The value of the model that the product gives.
  mlir::Value value;
  /// The rows of the matrix that make up `dim`, whose count `sizes` has.
  int64_t firstRow = 0, rowStep = 1;

  mlir::RankedTensorType type() const { return support::typeOf(value); }
  int64_t channelsDim() const { return dim + 1; }
  support::TakenRows rows() const { return {firstRow, rowStep, sizes[dim]}; }
};

/// Takes the shape that the only user of the product reshapes it to, if one of
/// its dimensions is that of the matrix and those before have one open size at
/// most.
void followReshape(mlir::OpBuilder &b, Picture &picture);

/// Follows the users of the product that only take rows of it, or put channels
/// into another order.
void followMovements(Picture &picture);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_LOWER_FOLLOWPICTURE_H
