//===- FreeDims.h - dimensions of one name that may differ ------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In ONNX a name of dimensions is documentation unless an operator needs the
// sizes to be equal. Equal sizes make better code, so dimensions of one name
// are first compiled as one size. A second try gives each of them a size of its
// own. It takes the first one's place where no operator then has more to check
// or to compute.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_DRIVER_FREEDIMS_H
#define INGOT_COMPILER_DRIVER_FREEDIMS_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace ingot {

/// Returns whether two open dimensions of the model's inputs have one name.
bool hasSharedDimNames(mlir::ModuleOp imported);

/// Returns `imported`, legalized, with the dimensions set apart that need not
/// be equal; null if there are none. `legalized` is what `legalize` made of the
/// same module. Reports nothing but remarks that name the dimensions.
mlir::OwningOpRef<mlir::ModuleOp>
freeDims(mlir::ModuleOp imported, mlir::ModuleOp legalized,
         llvm::function_ref<mlir::LogicalResult(mlir::ModuleOp)> legalize);

} // namespace ingot

#endif // INGOT_COMPILER_DRIVER_FREEDIMS_H
