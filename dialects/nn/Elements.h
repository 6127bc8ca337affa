//===- Elements.h - checks of constants -------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks constants that are positions, axes, counts or sizes. Makes all
// messages about wrong elements in them.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_NN_ELEMENTS_H
#define INGOT_DIALECTS_NN_ELEMENTS_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/Twine.h"

#include <optional>
#include <string>

namespace ingot::nn {

/// An interval from `low` to `high`, including both; empty if `high` is less
/// than `low`.
struct Range {
  int64_t low, high;

  bool contains(int64_t value) const { return low <= value && value <= high; }
};

/// Largest value of a size, a count or an amount.
constexpr int64_t kMostElements = (int64_t(1) << 31) - 1;

/// Returns the valid positions in a dimension. Negative positions are counted
/// from the end. If the size is dynamic, returns the range of all values.
Range positionsOf(int64_t size);

/// An element of a constant.
struct Element {
  int64_t number; ///< row-major index
  llvm::SmallVector<int64_t> place;
  int64_t value;
};

/// Returns the first element of a constant of integers that is outside of its
/// range. `ranges` has one range for all elements, or one for each index of the
/// last dimension. Returns nothing if `constant` is not a constant.
std::optional<Element> findOutside(mlir::Value constant,
                                   llvm::ArrayRef<Range> ranges);

/// Returns the indices of an element from its row-major number.
llvm::SmallVector<int64_t> placeOf(int64_t number,
                                   llvm::ArrayRef<int64_t> shape);
/// Returns the row-major number of an element from its indices.
int64_t numberOf(llvm::ArrayRef<int64_t> place, llvm::ArrayRef<int64_t> shape);

/// Returns a text such as "'axes' is 9 at [1]". Omits the position for a
/// scalar.
std::string describeElement(llvm::StringRef name, llvm::ArrayRef<int64_t> place,
                            const llvm::Twine &value);
/// Returns a text such as "in [-3, 2]".
std::string describeRange(Range range);

} // namespace ingot::nn

#endif // INGOT_DIALECTS_NN_ELEMENTS_H
