//===- ComputedAxes.h - reductions over axes known at run time --*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LEGALIZE_MATH_COMPUTEDAXES_H
#define INGOT_PASSES_LEGALIZE_MATH_COMPUTEDAXES_H

#include "passes/legalize/core/Helpers.h"

namespace ingot::legalize {

/// Axes that only a run knows; how many there are is known.
struct ComputedAxes {
  int64_t count = 0;
  /// An i1 for each dimension of the data.
  SmallVector<Value> isReduced;
};

/// Reads the axes in input i, for data in input 0.
FailureOr<ComputedAxes> readComputedAxes(Node &node, size_t i);

/// x reduced over the axes. A slow path that is there to be complete: models
/// have constant axes.
Value reduceComputed(Node &node, Value x, nn::ReduceKind kind,
                     const ComputedAxes &axes, bool keepDims);

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_MATH_COMPUTEDAXES_H
