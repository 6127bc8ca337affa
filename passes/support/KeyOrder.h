//===- KeyOrder.h - sorting by digits of keys -------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is sorted in a run: items of 64 bits, each the key of an element, an
// integer without a sign in the order of the elements, above the position of
// the element, which is below 2^32. Keys of 64 bits leave no room; then items
// are positions, and keys are made of the elements again.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_KEYORDER_H
#define INGOT_PASSES_SUPPORT_KEYORDER_H

#include "passes/support/Lowering.h"

namespace ingot::support {

/// An order of elements: the one that is first has the smaller key. -0 is 0,
/// and a NaN is greater than all numbers.
struct KeyOrder {
  /// What a digit may be.
  static constexpr int64_t kDigits = 256;
  using ElementAt = llvm::function_ref<Value(Value position)>;

  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::Type element;
  bool isUnsigned, descends;

  /// As an i64.
  Value keyOf(Value element) const;
  Value itemOf(Value element, Value position) const;
  Value positionOf(Value item) const;
  Value keyOfItem(Value item, ElementAt elementAt) const;
  /// The first `count` items of the first list, sorted; those with equal keys
  /// keep their order. The second list has as much room, the third `kDigits`
  /// numbers.
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
