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

/// How large a memref is made, or what it is a view of; nothing for arguments,
/// for what branches and loops give, and for views that drop dimensions.
llvm::SmallVector<mlir::OpFoldResult> sizesOfBuffer(mlir::Value memref);

} // namespace ingot

#endif // INGOT_PASSES_MEMORY_BUFFERSIZES_H
