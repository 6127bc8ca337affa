//===- Elements.h - what elements of constants may be -----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Constants that say positions, axes, counts and sizes: which element is not
// what it has to be, and how that is said. All such messages are made here.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_NN_ELEMENTS_H
#define INGOT_DIALECTS_NN_ELEMENTS_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/Twine.h"

#include <optional>
#include <string>

namespace ingot::nn {

/// From `low` to `high`, both included; empty if high is less.
struct Range {
  int64_t low, high;

  bool contains(int64_t value) const { return low <= value && value <= high; }
};

/// What a size, a count or an amount may be at most.
constexpr int64_t kMostElements = (int64_t(1) << 31) - 1;

/// The positions of a dimension, counted from the front or, negative, from the
/// end; everything if its size is open.
Range positionsOf(int64_t size);

/// An element of a constant.
struct Element {
  int64_t number; ///< row-major
  llvm::SmallVector<int64_t> place;
  int64_t value;
};

/// The first element of a constant of integers that is outside of its range:
/// there is one range for all, or one for each position along the last
/// dimension. Nothing if `constant` is computed.
std::optional<Element> findOutside(mlir::Value constant,
                                   llvm::ArrayRef<Range> ranges);

/// The indices of an element of a shape, from its number, row-major.
llvm::SmallVector<int64_t> placeOf(int64_t number,
                                   llvm::ArrayRef<int64_t> shape);
/// Its number, from its indices.
int64_t numberOf(llvm::ArrayRef<int64_t> place, llvm::ArrayRef<int64_t> shape);

/// "'axes' is 9 at [1]"; of a scalar, without a place.
std::string describeElement(llvm::StringRef name, llvm::ArrayRef<int64_t> place,
                            const llvm::Twine &value);
/// "in [-3, 2]".
std::string describeRange(Range range);

} // namespace ingot::nn

#endif // INGOT_DIALECTS_NN_ELEMENTS_H
