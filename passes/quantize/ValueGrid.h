//===- ValueGrid.h - tensors of multiples of a step -------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds float tensors whose elements are multiples of a step. Networks trained
// for quantization often express quantization in float ops: clamp, scale,
// round, unscale. The analysis does not depend on how these ops are written,
// because it looks only for multiples of a step.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_QUANTIZE_VALUEGRID_H
#define INGOT_PASSES_QUANTIZE_VALUEGRID_H

#include "passes/quantize/QuantizationParameters.h"
#include "passes/support/Intervals.h"

#include "llvm/ADT/DenseMap.h"

namespace ingot::quantize {

/// A set of values: `step` times an integer from `least` to `most`.
struct ValueGrid {
  double step;
  int64_t least, most;

  /// Returns true if ui8 can hold 0 and all values of the grid. Zero is
  /// necessary because padding adds zeros.
  bool fitsByte() const {
    return std::max<int64_t>(most, 0) + bytes().zeroPoint < 256;
  }
  /// Returns the scale and the zero point of the grid's values as ui8. A grid
  /// that fits signed bytes always gets the zero point 128. Tensors with equal
  /// steps then have equal zero points.
  Scale bytes() const {
    return {step, least >= 0 ? 0 : least >= -128 && most < 128 ? 128 : -least};
  }
};

/// Derives the grid of a tensor from the ops that compute it.
class ValueGridAnalysis {
public:
  /// Returns the grid of an f32 tensor, or nullopt.
  std::optional<ValueGrid> gridOf(mlir::Value value);

private:
  std::optional<ValueGrid> findGrid(mlir::Operation *op);
  std::optional<ValueGrid> joinedGrid(mlir::ValueRange values);

  llvm::DenseMap<mlir::Value, std::optional<ValueGrid>> grids;
  support::IntervalAnalysis intervals;
  /// Number of ops that the current search has gone up.
  int depth = 0;
};

/// Returns the largest step such that all values are multiples of it, by
/// factors of magnitude at most `most`. Returns nullopt if there is no such
/// step. The values are `at(0)` to `at(count - 1)`. The values may be off by
/// the rounding of f32. `largest` is the largest magnitude of the values. If
/// all values are 0, the step is 1.
std::optional<double> findStep(size_t count,
                               llvm::function_ref<double(size_t)> at,
                               double largest, int64_t most);

} // namespace ingot::quantize

#endif // INGOT_PASSES_QUANTIZE_VALUEGRID_H
