//===- LastUse.h - who needs a value last -----------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_MEMORY_LASTUSE_H
#define INGOT_PASSES_MEMORY_LASTUSE_H

#include "mlir/IR/Operation.h"

namespace ingot {

/// Whether `op` gives its operand another shape, and nothing else.
bool isPureReshape(mlir::Operation *op);

/// Whether nobody reads `value`, in any shape, after `user`; false, too, where
/// it has so many users that asking each of them for all others is too much.
bool diesAt(mlir::Value value, mlir::Operation *user);

} // namespace ingot

#endif // INGOT_PASSES_MEMORY_LASTUSE_H
