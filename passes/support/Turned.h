//===- Turned.h - transposed operands of elementwise ops --------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_TURNED_H
#define INGOT_PASSES_SUPPORT_TURNED_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace ingot::support {

/// Returns the operand of an elementwise op whose rows become columns of the
/// result, i.e. that is transposed. Returns null if there is no such operand or
/// more than one.
mlir::OpOperand *getTurned(mlir::linalg::LinalgOp op);

/// Returns the loop along the last dimension of such an operand, or of the
/// result.
int64_t lastLoopOf(mlir::linalg::LinalgOp op, mlir::OpOperand &operand);

} // namespace ingot::support

#endif // INGOT_PASSES_SUPPORT_TURNED_H
