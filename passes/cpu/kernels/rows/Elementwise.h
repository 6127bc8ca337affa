//===- Elementwise.h - bodies of loops as ops of vectors --------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_KERNELS_ROWS_ELEMENTWISE_H
#define INGOT_PASSES_CPU_KERNELS_ROWS_ELEMENTWISE_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace ingot::cpu {

/// Repeats in the body what constants it takes from around it.
void sinkConstants(mlir::OpBuilder &b, mlir::linalg::GenericOp op);

/// Whether each op of the body is one of vectors, too, whose results are of
/// types that `isLane` takes.
bool isElementwise(mlir::linalg::GenericOp op,
                   llvm::function_ref<bool(mlir::Type)> isLane);

/// Whether the body computes something, and does not only move elements.
bool computes(mlir::linalg::GenericOp op);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_ROWS_ELEMENTWISE_H
