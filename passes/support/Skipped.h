//===- Skipped.h - buffers that a run may leave out -------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A buffer that nobody reads in some run has no elements in that run: its first
// open size is `select(condition, 0, size)`. Ops that write to it still read
// operands of their own sizes, so none of them may run under that condition.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_SKIPPED_H
#define INGOT_PASSES_SUPPORT_SKIPPED_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace ingot {

/// Leaves a buffer of open size out where `condition` holds.
void skipWhen(mlir::memref::AllocOp alloc, mlir::Value condition);

/// Returns the condition under which the buffer behind `memref` is left out, or
/// null if it always has its elements.
mlir::Value skippedWhen(mlir::Value memref);

} // namespace ingot

#endif // INGOT_PASSES_SUPPORT_SKIPPED_H
