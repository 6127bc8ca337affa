//===- ShareTasks.h - tasks that are equal for two levels --------*- C++
//-*-===//
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

/// Removes from `higher` the tasks that are equal in `lower`, with what only
/// they call. Both are modules of one model in the LLVM dialect, and become
/// objects of one library: the code of the lower level serves both. Returns how
/// many tasks were removed; 0 where LLVM may make better code for the higher
/// level of the same functions.
unsigned shareTasks(mlir::ModuleOp lower, const Target &lowerTarget,
                    mlir::ModuleOp higher, const Target &higherTarget);

} // namespace ingot

#endif // INGOT_COMPILER_EMIT_SHARETASKS_H
