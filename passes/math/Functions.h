//===- Functions.h - functions that passes of math replace ------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_MATH_FUNCTIONS_H
#define INGOT_PASSES_MATH_FUNCTIONS_H

#include "mlir/IR/Operation.h"

namespace ingot::elementary {

/// Returns true if `approximate-math` replaces `op`.
bool isApproximated(mlir::Operation *op);

/// Returns true if `expand-math` replaces `op`.
bool isExpanded(mlir::Operation *op);

} // namespace ingot::elementary

#endif // INGOT_PASSES_MATH_FUNCTIONS_H
