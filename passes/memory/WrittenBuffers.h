//===- WrittenBuffers.h - buffers that ops write to -------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_MEMORY_WRITTENBUFFERS_H
#define INGOT_PASSES_MEMORY_WRITTENBUFFERS_H

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"

namespace ingot {

/// Returns the buffers that an op, including its regions, writes to. A view
/// counts as its buffer. Buffers that the op itself allocates are left out.
/// Returns nullopt if the op has other effects than writing.
std::optional<llvm::SetVector<mlir::Value>>
writtenBuffersOf(mlir::Operation *op);

/// Returns true if the number of elements of a memref is only known at run
/// time.
bool canBeEmpty(mlir::Value memref);

/// Creates code that returns true if a memref has no elements.
mlir::Value isEmpty(mlir::OpBuilder &builder, mlir::Location loc,
                    mlir::Value memref);

} // namespace ingot

#endif // INGOT_PASSES_MEMORY_WRITTENBUFFERS_H
