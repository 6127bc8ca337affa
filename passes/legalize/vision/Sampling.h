//===- Sampling.h - sums of elements at computed indices --------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LEGALIZE_VISION_SAMPLING_H
#define INGOT_PASSES_LEGALIZE_VISION_SAMPLING_H

#include "passes/legalize/core/Helpers.h"
#include "passes/support/Resampling.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace ingot::legalize {

/// Elements of x to read, of shape (T, R, P): i64 indices into the flattened
/// spatial dimensions, negative for no element. `weights` have the same shape
/// or are null.
struct Taps {
  Value at, weights;
};

/// Computes y[r, c, p] = sum over t of weights[t, r, p] x[batches[r], c, at[t,
/// r, p]], for x (batch, channels, positions). With `isMax` it computes the
/// maximum instead. Without `batches`, the batch is r. Indices must be in x.
/// They are computed once and used for all channels.
Value sumOfTaps(Node &node, Value x, Value batches, const Taps &taps,
                bool isMax = false);

/// Flattens the spatial dimensions of (batch, channels, spatial…).
Value flattenSpatial(Node &node, Value x);

/// Clamps a coordinate to at most `margin` outside of a dimension of `size`
/// elements, so that it can become an index. NaN is clamped, too.
Value holdNear(support::Scalars s, Value x, Value size, double margin);

/// Returns true if index x is in [low, high).
Value isWithin(support::Scalars s, Value x, Value low, Value high);

/// Extracts an element of an f32 tensor.
inline Value floatAt(support::Scalars s, Value x, mlir::ValueRange at) {
  return mlir::tensor::ExtractOp::create(s.b, s.loc, x, at);
}
inline Value asI64(support::Scalars s, Value index) {
  return mlir::arith::IndexCastOp::create(s.b, s.loc, s.b.getI64Type(), index);
}

/// Requires at least one element in each spatial dimension.
LogicalResult requireSpatial(Node &node, Value x);

/// Corner `tap` (0 … 2^k - 1) of the cell around a point in k dimensions. `at`
/// is the flattened index of the corner, or -1 if it is outside of the data.
/// `weight` is the weight of the corner. Sizes are indices, and the point is
/// f32 and near the data.
struct Corner {
  Value at, weight;
};
Corner cornerOf(support::Scalars s, Value tap, llvm::ArrayRef<Value> point,
                llvm::ArrayRef<Value> sizes);

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_VISION_SAMPLING_H
