//===- Grid.h - tensors of multiples of a step ------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Networks that were trained to be quantized write it in floats: clamp, scale,
// round, unscale. Whatever the words, what comes out are multiples of a step.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_QUANTIZE_GRID_H
#define INGOT_PASSES_QUANTIZE_GRID_H

#include "passes/quantize/Quantized.h"
#include "passes/support/Intervals.h"

#include "llvm/ADT/DenseMap.h"

namespace ingot::quantize {

/// Each element is `step` times a whole number from `least` to `most`.
struct Grid {
  double step;
  int64_t least, most;

  /// Whether unsigned bytes hold these numbers, and 0, which pads.
  bool fitsByte() const {
    return std::max<int64_t>(most, 0) + bytes().zeroPoint < 256;
  }
  /// The scale and zero point of such bytes. Numbers that signed bytes hold
  /// have the zero point of these, so that tensors of one step share it.
  Scale bytes() const {
    return {step, least >= 0      ? 0
                  : least >= -128 && most < 128 ? 128
                                                : -least};
  }
};

/// Finds what tensors hold by what computes them.
class GridAnalysis {
public:
  /// That of a tensor of f32, or nullopt.
  std::optional<Grid> gridOf(mlir::Value value);

private:
  std::optional<Grid> findGrid(mlir::Operation *op);
  std::optional<Grid> joinedGrid(mlir::ValueRange values);

  llvm::DenseMap<mlir::Value, std::optional<Grid>> grids;
  support::IntervalAnalysis intervals;
  /// How many operations the search has gone up from where it began.
  int depth = 0;
};

/// The largest step of which `count` numbers, `at` 0 and so on, are multiples
/// by at most `most`, up to what rounding in f32 adds; nullopt if none is.
/// `largest` is the largest of their magnitudes; for zeros the step is 1.
std::optional<double> findStep(size_t count,
                               llvm::function_ref<double(size_t)> at,
                               double largest, int64_t most);

} // namespace ingot::quantize

#endif // INGOT_PASSES_QUANTIZE_GRID_H
