//===- Targets.h - what ops write to ----------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_MEMORY_TARGETS_H
#define INGOT_PASSES_MEMORY_TARGETS_H

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"

namespace ingot {

/// Returns the buffers that an op, with its regions, writes to, or nothing if
/// it does more than to write. Views count as what they are views of. Buffers
/// that the op makes itself are left out.
std::optional<llvm::SetVector<mlir::Value>> targetsOf(mlir::Operation *op);

/// Returns whether a run decides how many elements a memref has.
bool canBeEmpty(mlir::Value memref);

/// Computes whether a memref has no elements in this run.
mlir::Value isEmpty(mlir::OpBuilder &builder, mlir::Location loc,
                    mlir::Value memref);

} // namespace ingot

#endif // INGOT_PASSES_MEMORY_TARGETS_H
