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

/// Returns true if LLVM generates equal code for both levels. The functions
/// must not use types and operations that only the higher level has features
/// for.
bool canShareTasks(const Target &lower, const Target &higher);

/// Removes tasks from `higher` that are equal in `lower`, and functions that
/// only these tasks call. Both modules come from one model, are in the LLVM
/// dialect, and satisfy `canShareTasks`. Both become objects of one library, so
/// the higher level calls the tasks of the lower one. Returns the number of
/// removed tasks.
unsigned shareTasks(mlir::ModuleOp lower, const Target &lowerTarget,
                    mlir::ModuleOp higher);

} // namespace ingot

#endif // INGOT_COMPILER_EMIT_SHARETASKS_H
