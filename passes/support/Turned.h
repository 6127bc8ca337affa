//===- Turned.h - ops that make columns of rows -----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_TURNED_H
#define INGOT_PASSES_SUPPORT_TURNED_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace ingot::support {

/// The operand of an elementwise op whose rows become columns of the result:
/// that of a transpose, with whatever is computed of its elements. Null if
/// there is none, or more than one.
mlir::OpOperand *getTurned(mlir::linalg::LinalgOp op);

/// The loop along the last dimension of such an operand, or of the result.
int64_t lastLoopOf(mlir::linalg::LinalgOp op, mlir::OpOperand &operand);

} // namespace ingot::support

#endif // INGOT_PASSES_SUPPORT_TURNED_H
