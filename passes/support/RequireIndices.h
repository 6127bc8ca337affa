//===- RequireIndices.h - indices that a run brings -------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_REQUIREINDICES_H
#define INGOT_PASSES_SUPPORT_REQUIREINDICES_H

#include "mlir/IR/Builders.h"

namespace ingot::support {

/// Adds a check that each element of `indices` is a valid index of a dimension.
/// A negative index counts from the end. `sizes` has one size, or one per
/// coordinate along the last dimension of `indices`.
void requireIndices(mlir::OpBuilder &b, mlir::Location loc, mlir::Value indices,
                    llvm::ArrayRef<mlir::OpFoldResult> sizes);

} // namespace ingot::support

#endif // INGOT_PASSES_SUPPORT_REQUIREINDICES_H
