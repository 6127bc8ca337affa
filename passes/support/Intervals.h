//===- Intervals.h - between which numbers tensors lie ----------*- C++ -*-===//
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

/// Two numbers that no element lies outside of; infinite where nothing is
/// known. Of floats one may be NaN besides.
struct Interval {
  double least, most;

  bool isWithin(double low, double high) const {
    return least >= low && most <= high;
  }
};

/// Finds them by what computes the elements.
class IntervalAnalysis {
public:
  Interval intervalOf(mlir::Value value);

private:
  Interval findInterval(mlir::Operation *op);

  llvm::DenseMap<mlir::Value, Interval> intervals;
  /// How many operations the search has gone up from where it began.
  int depth = 0;
};

} // namespace ingot::support

#endif // INGOT_PASSES_SUPPORT_INTERVALS_H
