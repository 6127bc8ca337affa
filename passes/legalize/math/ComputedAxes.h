//===- ComputedAxes.h - reductions over computed axes -----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LEGALIZE_MATH_COMPUTEDAXES_H
#define INGOT_PASSES_LEGALIZE_MATH_COMPUTEDAXES_H

#include "passes/legalize/core/Helpers.h"

namespace ingot::legalize {

/// Axes that are computed at run time. Their number is static.
struct ComputedAxes {
  int64_t count = 0;
  /// An i1 for each dimension of the data: true if the dimension is reduced.
  SmallVector<Value> isReduced;
};

/// Reads the axes in input i, for data in input 0.
FailureOr<ComputedAxes> readComputedAxes(Node &node, size_t i);

/// Reduces x over the axes. The code is simple and slow, because models have
/// constant axes.
Value reduceComputed(Node &node, Value x, nn::ReduceKind kind,
                     const ComputedAxes &axes, bool keepDims);

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_MATH_COMPUTEDAXES_H
