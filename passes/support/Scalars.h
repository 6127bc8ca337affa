//===- Scalars.h - constant scalar operands ---------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_SCALARS_H
#define INGOT_PASSES_SUPPORT_SCALARS_H

#include "dialects/nn/Constants.h"
#include "dialects/nn/NNDialect.h"

#include <cmath>

namespace ingot::support {

/// Returns the value of a small constant whose elements are all equal. Does not
/// read weights.
inline std::optional<double> smallSplat(mlir::Value value) {
  constexpr int64_t kMaxElements = 4096;
  mlir::ElementsAttr attr = nn::getConstant(value);
  if (!attr || attr.getNumElements() > kMaxElements)
    return std::nullopt;
  return nn::getSplat(value);
}

/// Returns true if two values are equal up to rounding. Exporters round
/// constants to fp32.
inline bool isAbout(double value, double expected) {
  return std::abs(value - expected) <= 2e-6 * std::abs(expected);
}
inline bool isAbout(std::optional<double> value, double expected) {
  return value && isAbout(*value, expected);
}

/// Matches `value` as Op(x, constant), or with `either` also Op(constant, x),
/// where x has the type of `value`. Returns the constant and sets `x`.
template <typename Op>
std::optional<double> matchScalar(mlir::Value value, mlir::Value &x,
                                  bool either = false) {
  auto op = value.getDefiningOp<Op>();
  if (!op)
    return std::nullopt;
  for (int i = 0; i <= int(either); ++i) {
    x = op->getOperand(i);
    if (x.getType() != value.getType())
      continue;
    if (std::optional<double> number = smallSplat(op->getOperand(1 - i)))
      return number;
  }
  return std::nullopt;
}

} // namespace ingot::support

#endif // INGOT_PASSES_SUPPORT_SCALARS_H
