//===- ShareTasks.h - tasks that are equal for two levels -------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_EMIT_SHARETASKS_H
#define INGOT_COMPILER_EMIT_SHARETASKS_H

#include "compiler/target/Target.h"

#include "mlir/IR/BuiltinOps.h"

namespace ingot {

/// Returns true if LLVM makes the same code for both levels, for functions
/// without types and operations of the features in between.
bool canShareTasks(const Target &lower, const Target &higher);

/// Removes tasks from `higher` that are equal in `lower`, with functions that
/// only they call. Both modules come from one model, are in the LLVM dialect,
/// and satisfy `canShareTasks`. They become objects of one library, where the
/// lower level's code serves both. Returns the number of removed tasks.
unsigned shareTasks(mlir::ModuleOp lower, const Target &lowerTarget,
                    mlir::ModuleOp higher);

} // namespace ingot

#endif // INGOT_COMPILER_EMIT_SHARETASKS_H
