//===- ReleaseBuffers.h - release of buffers during a run -------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_MEMORY_RELEASEBUFFERS_H
#define INGOT_PASSES_MEMORY_RELEASEBUFFERS_H

#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace ingot {

/// Returns true if the buffer has a place in the arena. Other buffers are
/// allocated by the host.
bool isInArena(mlir::memref::AllocOp alloc);

/// Returns all users of a buffer, of its views, and of its address.
llvm::SmallVector<mlir::Operation *>
usersOf(mlir::Value buffer, mlir::BufferViewFlowAnalysis &aliases);

/// Releases buffers of the host. A buffer is released after its last use in its
/// block. A buffer that a loop carries is released when the next step has its
/// own. The host releases the remaining buffers at the end of the run.
llvm::LogicalResult releaseBuffers(mlir::func::FuncOp function,
                                   mlir::BufferViewFlowAnalysis &aliases);

} // namespace ingot

#endif // INGOT_PASSES_MEMORY_RELEASEBUFFERS_H
