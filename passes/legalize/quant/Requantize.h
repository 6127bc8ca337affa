//===- Requantize.h - sums of bytes become bytes again ----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What QLinearConv and QLinearMatMul do of their sums, and how large these get,
// which says whether f32 has the bits for it.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LEGALIZE_QUANT_REQUANTIZE_H
#define INGOT_PASSES_LEGALIZE_QUANT_REQUANTIZE_H

#include "passes/legalize/core/Legalize.h"

#include <vector>

namespace ingot::legalize {

/// f32 holds all whole numbers below it.
inline constexpr double kLargestSum = 0x1p24;

/// A tensor of bytes and its zero point: two inputs of a node.
struct ByteInputs {
  size_t bytes, zeroPoint;
};

/// The magnitude that no sum of products of data and weights, less their zero
/// points, is above, for each index of `dim`, along which the weights' zero
/// point may vary. Empty if it is not known.
std::vector<double> largestSums(Node &node, ByteInputs data,
                                ByteInputs weights, int64_t dim);

/// The same where input i, if it is there, is added.
void addBias(Node &node, std::vector<double> &largest, size_t i);

/// `x w / y` of scales, each step rounded to their type as ONNX's reference
/// rounds it, as f32.
mlir::FailureOr<Value> ratioOf(Node &node, Value x, Value w, Value y);

/// Replaces the node by bytes of `sums`, none of which is above `largest`, if
/// that is known.
mlir::LogicalResult requantize(Node &node, Value sums, Value ratio,
                               Value zeroPoint,
                               llvm::ArrayRef<double> largest);

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_QUANT_REQUANTIZE_H
