//===- Requantize.h - requantization of int32 sums --------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declares how QLinearConv and QLinearMatMul requantize their sums. A bound of
// the sums decides if f32 is precise enough for this.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LEGALIZE_QUANT_REQUANTIZE_H
#define INGOT_PASSES_LEGALIZE_QUANT_REQUANTIZE_H

#include "passes/legalize/core/Legalize.h"

#include <vector>

namespace ingot::legalize {

/// f32 holds all integers below this value.
inline constexpr double kLargestSum = 0x1p24;

/// Inputs of a node: an int8 tensor and its zero point.
struct ByteInputs {
  size_t bytes, zeroPoint;
};

/// Returns upper bounds of the magnitudes of sums. A sum adds products of data
/// and weights after subtracting their zero points. The weights' zero point may
/// vary along `dim`; there is one bound per index of `dim`. The result is empty
/// if the bounds are not known.
std::vector<double> largestSums(Node &node, ByteInputs data,
                                ByteInputs weights, int64_t dim);

/// Adds input i, if present, to the bounds.
void addBias(Node &node, std::vector<double> &largest, size_t i);

/// Returns `x w / y` of scales as f32. Each step is rounded to the scales'
/// type, as in ONNX's reference.
mlir::FailureOr<Value> ratioOf(Node &node, Value x, Value w, Value y);

/// Replaces the node by int8 values of `sums`. The magnitudes of the sums are
/// at most `largest`, or unknown if it is empty.
mlir::LogicalResult requantize(Node &node, Value sums, Value ratio,
                               Value zeroPoint,
                               llvm::ArrayRef<double> largest);

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_QUANT_REQUANTIZE_H
