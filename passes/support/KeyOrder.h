//===- KeyOrder.h - radix sort ----------------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declares a sort of elements at run time. An item has 64 bits: the key of an
// element in the high bits, and the element's position, below 2^32, in the low
// bits. Keys are unsigned integers in the order of the elements. Keys of 64
// bits leave no room for positions. Items are then positions, and keys are
// computed from the elements again.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_KEYORDER_H
#define INGOT_PASSES_SUPPORT_KEYORDER_H

#include "passes/support/Lowering.h"

namespace ingot::support {

/// An order of elements. Smaller keys come first. -0 equals 0, and NaN is
/// greater than all numbers.
struct KeyOrder {
  /// Number of values of a digit.
  static constexpr int64_t kDigits = 256;
  using ElementAt = llvm::function_ref<Value(Value position)>;

  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::Type element;
  bool isUnsigned, descends;

  /// Returns true if an item has the key of its element.
  bool hasKeyInItem() const { return keyBits() != 64; }
  /// Returns the key of an element as an i64.
  Value keyOf(Value element) const;
  Value itemOf(Value element, Value position) const;
  Value positionOf(Value item) const;
  Value keyOfItem(Value item, ElementAt elementAt) const;
  /// Sorts the first `count` items of the first list. The sort is stable. The
  /// second list has the same size, the third has `kDigits` elements.
  Value sort(llvm::ArrayRef<Value> lists, Value count,
             ElementAt elementAt) const;

private:
  int64_t keyBits() const;
  Value number(int64_t value) const;
  void sortByDigit(llvm::SmallVectorImpl<Value> &lists, Value count,
                   Value shift, ElementAt elementAt) const;
};

} // namespace ingot::support

#endif // INGOT_PASSES_SUPPORT_KEYORDER_H
