//===- BufferSizes.h - sizes of buffers and of views ------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_MEMORY_BUFFERSIZES_H
#define INGOT_PASSES_MEMORY_BUFFERSIZES_H

#include "mlir/IR/OpDefinition.h"

namespace ingot {

/// Returns the sizes of the buffer or view that defines `memref`. Returns an
/// empty list for arguments, for results of branches and loops, and for views
/// that drop dimensions.
llvm::SmallVector<mlir::OpFoldResult> sizesOfBuffer(mlir::Value memref);

} // namespace ingot

#endif // INGOT_PASSES_MEMORY_BUFFERSIZES_H
