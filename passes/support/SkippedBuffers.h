//===- SkippedBuffers.h - buffers that may be empty at run time -*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declares how to leave out a buffer that is not read in some runs. The buffer
// then has no elements: its first dynamic size is `select(condition, 0, size)`.
// Ops that write it still read operands of the full size, so they must not run
// under this condition.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_SKIPPEDBUFFERS_H
#define INGOT_PASSES_SUPPORT_SKIPPEDBUFFERS_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace ingot {

/// Makes a buffer of dynamic size empty if `condition` holds.
void skipWhen(mlir::memref::AllocOp alloc, mlir::Value condition);

/// Returns the condition under which the buffer behind `memref` is empty.
/// Returns null if the buffer is never empty.
mlir::Value skippedWhen(mlir::Value memref);

} // namespace ingot

#endif // INGOT_PASSES_SUPPORT_SKIPPEDBUFFERS_H
