//===- Sampling.h - sums of elements at computed positions ------*- C++ -*-===//
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

/// What positions (T, R, P) read of x, as i64 in the flattened spatial
/// dimensions, or below 0 for nothing; and weights of the same shape or null.
struct Taps {
  Value at, weights;
};

/// y[r, c, p] = sum over t of weights[t, r, p] x[batches[r], c, at[t, r, p]],
/// for x (batch, channels, positions); the largest instead of the sum with
/// `isMax`. Without `batches` r itself is the batch. Positions have to be in x:
/// they are computed once and read for all channels.
Value sumOfTaps(Node &node, Value x, Value batches, const Taps &taps,
                bool isMax = false);

/// (batch, channels, spatial…) with the spatial dimensions as one.
Value flattenSpatial(Node &node, Value x);

/// Floats that become indices: held within `margin` of a dimension of `size`
/// elements, and what is no number too.
Value holdNear(support::Scalars s, Value x, Value size, double margin);

/// 1 or 0 for x between low and high (indices, high not included).
Value isWithin(support::Scalars s, Value x, Value low, Value high);

/// Element of a tensor of f32, and an index as i64.
inline Value floatAt(support::Scalars s, Value x, mlir::ValueRange at) {
  return mlir::tensor::ExtractOp::create(s.b, s.loc, x, at);
}
inline Value asI64(support::Scalars s, Value index) {
  return mlir::arith::IndexCastOp::create(s.b, s.loc, s.b.getI64Type(), index);
}

/// Reports data without elements in a spatial dimension.
LogicalResult requireSpatial(Node &node, Value x);

/// Corner `tap` (0 … 2^k - 1) of a point in k dimensions: its flattened
/// position, -1 where it lies outside, and its weight. Sizes are indices,
/// points f32 that are near the data.
struct Corner {
  Value at, weight;
};
Corner cornerOf(support::Scalars s, Value tap, llvm::ArrayRef<Value> point,
                llvm::ArrayRef<Value> sizes);

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_VISION_SAMPLING_H
