//===- TransposedOperand.h - transposed operands ----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_TRANSPOSEDOPERAND_H
#define INGOT_PASSES_SUPPORT_TRANSPOSEDOPERAND_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace ingot::support {

/// Returns the transposed operand of an elementwise op: its rows become columns
/// of the result. Returns null if no operand or more than one is transposed.
mlir::OpOperand *getTransposedOperand(mlir::linalg::LinalgOp op);

/// Returns the loop along the last dimension of such an operand, or of the
/// result.
int64_t lastLoopOf(mlir::linalg::LinalgOp op, mlir::OpOperand &operand);

} // namespace ingot::support

#endif // INGOT_PASSES_SUPPORT_TRANSPOSEDOPERAND_H
