//===- Elementwise.h - bodies of loops on vectors ---------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_KERNELS_ROWS_ELEMENTWISE_H
#define INGOT_PASSES_CPU_KERNELS_ROWS_ELEMENTWISE_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace ingot::cpu {

/// Copies constants that the body uses from outside into the body.
void sinkConstants(mlir::OpBuilder &b, mlir::linalg::GenericOp op);

/// Returns true if each op of the body also works on vectors, and its results
/// have types that `isLane` accepts.
bool isElementwise(mlir::linalg::GenericOp op,
                   llvm::function_ref<bool(mlir::Type)> isLane);

/// Returns true if the body computes something; false if it only moves
/// elements.
bool computes(mlir::linalg::GenericOp op);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_ROWS_ELEMENTWISE_H
