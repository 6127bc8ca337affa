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

/// Hands an output of open size to the host; see runtime/support. Its operands
/// are the call, the output's number, its rank, the addresses of its sizes and
/// of its elements, and the bits of one.
constexpr llvm::StringLiteral kStoreOutput = "ingot_support_store_output";
/// The same of strings, whose elements are their numbers.
constexpr llvm::StringLiteral kStoreStrings = "ingot_support_store_strings";

/// How large a memref is made, or what it is a view of; nothing for arguments,
/// for what branches and loops give, and for views that drop dimensions.
llvm::SmallVector<mlir::OpFoldResult> sizesOfBuffer(mlir::Value memref);

} // namespace ingot

#endif // INGOT_PASSES_MEMORY_BUFFERSIZES_H
