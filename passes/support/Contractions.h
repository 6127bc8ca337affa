//===- Contractions.h - recognition of matrix products ----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_CONTRACTIONS_H
#define INGOT_PASSES_SUPPORT_CONTRACTIONS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace ingot::support {

/// Returns true if an op sums products of its operands.
bool isSumOfProducts(mlir::linalg::LinalgOp op);

/// Returns true if an op multiplies rows of its first operand by columns of its
/// second operand. The loops must have the order that register tiles need:
/// batches, rows, k, columns. A batch loop may also be a reduction over the
/// taps of a convolution. The rows are then the convolution's windows.
bool hasTiledProductLoops(mlir::linalg::LinalgOp op);

/// Returns true if elements along the last dimension of a memref are
/// contiguous.
bool isRow(mlir::Type memref);

/// Returns true if an op on memrefs is a matrix product that kernels compute
/// with register tiles. Element types are f32, f64, bf16, i32, int16 or int8.
/// Loops are batch…, row, k, column. The right factor is contiguous along k or
/// the columns, and the result along the columns.
bool isTiledProduct(mlir::linalg::LinalgOp op);

} // namespace ingot::support

#endif // INGOT_PASSES_SUPPORT_CONTRACTIONS_H
