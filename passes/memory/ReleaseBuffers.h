//===- ReleaseBuffers.h - memory that goes back in a run --- -*- C++ -*-===//
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

/// Whether the buffer has a place in the arena; others are the host's.
bool isInArena(mlir::memref::AllocOp alloc);

/// Everything that touches a buffer: users of it, of a view of it, and of its
/// address.
llvm::SmallVector<mlir::Operation *>
usersOf(mlir::Value buffer, mlir::BufferViewFlowAnalysis &aliases);

/// Gives buffers of the host back: each after its last use in its block, and
/// what a loop carries when the next step has its own. What is left, the host
/// takes back at the end of the run.
llvm::LogicalResult releaseBuffers(mlir::func::FuncOp function,
                                   mlir::BufferViewFlowAnalysis &aliases);

} // namespace ingot

#endif // INGOT_PASSES_MEMORY_RELEASEBUFFERS_H
