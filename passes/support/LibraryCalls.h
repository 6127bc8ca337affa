//===- LibraryCalls.h - calls of functions linked into a model --*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_LIBRARYCALLS_H
#define INGOT_PASSES_SUPPORT_LIBRARYCALLS_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

namespace ingot::support {

/// Returns the address of a memref's first element, as an index.
mlir::Value addressOf(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value memref);

/// Stores the values, which are indices, to the first elements of `frame`, a
/// memref of i64.
void storeAll(mlir::OpBuilder &builder, mlir::Location loc,
              llvm::ArrayRef<mlir::Value> values, mlir::Value frame);

/// Computes the number of bytes of a buffer of these sizes, which are i64.
/// Returns the largest integer if no memory can hold it. An empty buffer has 0
/// bytes, even if its other sizes are large.
mlir::Value checkedBytes(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Type element, mlir::ValueRange sizes);

/// Creates a function `name`. It calls `callee` of the runtime with its own
/// arguments and with the addresses of `globals`.
void createForward(mlir::OpBuilder builder, mlir::Location loc,
                   llvm::StringRef name, llvm::StringRef callee,
                   mlir::LLVM::LLVMFunctionType type,
                   llvm::ArrayRef<llvm::StringRef> globals);

} // namespace ingot::support

#endif // INGOT_PASSES_SUPPORT_LIBRARYCALLS_H
