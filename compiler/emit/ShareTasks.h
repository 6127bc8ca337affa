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

/// Whether LLVM makes the same code for both levels of functions that use none
/// of the types and operations that the features in between are for.
bool canShareTasks(const Target &lower, const Target &higher);

/// Removes from `higher` the tasks that are equal in `lower`, with what only
/// they call. Both are modules of one model in the LLVM dialect, of levels for
/// which `canShareTasks` holds, and become objects of one library: the code of
/// the lower level serves both. Returns how many tasks were removed.
unsigned shareTasks(mlir::ModuleOp lower, const Target &lowerTarget,
                    mlir::ModuleOp higher);

} // namespace ingot

#endif // INGOT_COMPILER_EMIT_SHARETASKS_H
