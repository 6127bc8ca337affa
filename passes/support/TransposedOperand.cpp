//===- TransposedOperand.cpp - transposed operands of elementwise ops -----===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/support/TransposedOperand.h"

using namespace mlir;
using namespace ingot;

static AffineDimExpr lastDimOf(linalg::LinalgOp op, OpOperand &operand) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  if (map.getNumResults() == 0)
    return AffineDimExpr(nullptr);
  return dyn_cast<AffineDimExpr>(map.getResults().back());
}

int64_t support::lastLoopOf(linalg::LinalgOp op, OpOperand &operand) {
  return lastDimOf(op, operand).getPosition();
}

OpOperand *support::getTransposedOperand(linalg::LinalgOp op) {
  if (op.getNumDpsInits() != 1 || op.getNumParallelLoops() != op.getNumLoops())
    return nullptr;
  AffineDimExpr column = lastDimOf(op, *op.getDpsInitOperand(0));
  OpOperand *turned = nullptr;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    AffineDimExpr row = lastDimOf(op, *operand);
    // If the rows of an operand are rows of the result, the operand is not
    // transposed.
    if (!column || !row || row == column ||
        !op.getMatchingIndexingMap(operand).isFunctionOfDim(
            column.getPosition()))
      continue;
    if (turned)
      return nullptr;
    turned = operand;
  }
  return turned;
}
