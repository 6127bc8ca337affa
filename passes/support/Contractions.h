//===- Contractions.h - sums of products as loops ---------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_CONTRACTIONS_H
#define INGOT_PASSES_SUPPORT_CONTRACTIONS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace ingot::support {

/// Whether an op sums up products of its operands.
bool isSumOfProducts(mlir::linalg::LinalgOp op);

/// Whether an op multiplies rows of its first operand by columns of its second,
/// with loops in the order that register tiles take them: batches, rows, k,
/// columns. Batches may be the taps of a convolution, over which it sums, too;
/// the rows are windows then.
bool hasTiledProductLoops(mlir::linalg::LinalgOp op);

/// Whether the last dimension of a memref has its elements side by side.
bool isRow(mlir::Type memref);

/// Whether an op on memrefs is a matrix product that is written with register
/// tiles: of f32, f64, bf16, i32, words or bytes with the loops batch…, row, k,
/// column, its right factor contiguous along k or the columns, its result along
/// the columns.
bool isTiledProduct(mlir::linalg::LinalgOp op);

} // namespace ingot::support

#endif // INGOT_PASSES_SUPPORT_CONTRACTIONS_H
