//===- LastUse.h - last uses of values --------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_MEMORY_LASTUSE_H
#define INGOT_PASSES_MEMORY_LASTUSE_H

#include "mlir/IR/Operation.h"

namespace ingot {

/// Returns true if `op` only changes the shape of its operand.
bool isPureReshape(mlir::Operation *op);

/// Returns true if no op after `user` reads `value` or a reshape of it. Also
/// returns false if `value` has too many users to check.
bool diesAt(mlir::Value value, mlir::Operation *user);

} // namespace ingot

#endif // INGOT_PASSES_MEMORY_LASTUSE_H
