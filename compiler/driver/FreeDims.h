//===- FreeDims.h - dimensions of one name that may differ ------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In ONNX a dimension name is only documentation, unless an operator needs
// equal sizes. Equal sizes give better code. So the first compilation gives all
// dimensions of one name the same size, and a second one gives each its own
// size. The second result is used if no operator then checks or computes more.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_DRIVER_FREEDIMS_H
#define INGOT_COMPILER_DRIVER_FREEDIMS_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace ingot {

/// Returns true if two dynamic dimensions of the model's inputs have one name.
bool hasSharedDimNames(mlir::ModuleOp imported);

/// Compiles `imported` with `legalize`, but with separate sizes for dimensions
/// that need not be equal. Returns the result, or null if there are no such
/// dimensions. `legalized` is the result of `legalize` for the unchanged
/// module. Emits no diagnostics except remarks that name the dimensions.
mlir::OwningOpRef<mlir::ModuleOp>
freeDims(mlir::ModuleOp imported, mlir::ModuleOp legalized,
         llvm::function_ref<mlir::LogicalResult(mlir::ModuleOp)> legalize);

} // namespace ingot

#endif // INGOT_COMPILER_DRIVER_FREEDIMS_H
