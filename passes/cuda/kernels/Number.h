//===- Number.h - a size or stride of a kernel ------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CUDA_KERNELS_NUMBER_H
#define INGOT_PASSES_CUDA_KERNELS_NUMBER_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

namespace ingot::cuda {

/// A size or stride that the compiler knows, or that only a run knows: an open
/// number. In the code of a kernel, an open number has a value of 32 bits.
class Number {
public:
  Number(int64_t known) : count(known), divisor(known) {}
  /// Makes an open number that is a multiple of `divisor`.
  static Number open(int64_t divisor, mlir::Value value = {}) {
    Number number(mlir::ShapedType::kDynamic);
    number.divisor = divisor;
    number.inCode = value;
    return number;
  }

  bool isOpen() const { return mlir::ShapedType::isDynamic(count); }
  bool is(int64_t value) const { return !isOpen() && count == value; }
  int64_t known() const {
    assert(!isOpen() && "only a run knows the number");
    return count;
  }
  /// Returns the number, or `usual` for an open one.
  int64_t knownOr(int64_t usual) const { return isOpen() ? usual : count; }
  /// Returns true if the number is known to be a multiple.
  bool isMultipleOf(int64_t factor) const { return divisor % factor == 0; }
  int64_t knownDivisor() const { return divisor; }
  mlir::Value value() const { return inCode; }

private:
  int64_t count, divisor;
  mlir::Value inCode;
};

} // namespace ingot::cuda

#endif // INGOT_PASSES_CUDA_KERNELS_NUMBER_H
