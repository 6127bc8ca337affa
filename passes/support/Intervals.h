//===- Intervals.h - value ranges of tensors --------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_INTERVALS_H
#define INGOT_PASSES_SUPPORT_INTERVALS_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace ingot::support {

/// Bounds of all elements, infinite if nothing is known. Float elements may
/// also be NaN.
struct Interval {
  double least, most;

  bool isWithin(double low, double high) const {
    return least >= low && most <= high;
  }
};

/// Computes intervals from the ops that compute the elements.
class IntervalAnalysis {
public:
  Interval intervalOf(mlir::Value value);

private:
  Interval findInterval(mlir::Operation *op);

  llvm::DenseMap<mlir::Value, Interval> intervals;
  /// Number of ops between the value of the first call and the current value.
  /// It limits the search.
  int depth = 0;
};

} // namespace ingot::support

#endif // INGOT_PASSES_SUPPORT_INTERVALS_H
