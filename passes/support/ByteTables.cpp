//===- ByteTables.cpp - lookups in tables of 256 bytes --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/support/ByteTables.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ingot;

static bool isTable(Value value) {
  auto type = dyn_cast<ShapedType>(value.getType());
  return type && type.getElementType().isSignlessInteger(8) && type.hasRank() &&
         type.getShape() == ArrayRef(support::kByteEntries);
}

Value support::getByteTable(linalg::LinalgOp op) {
  auto generic = dyn_cast<linalg::GenericOp>(*op);
  if (!generic || generic.getNumDpsInputs() != 1 ||
      generic.getNumDpsInits() != 1 ||
      !getElementTypeOrSelf(generic->getOperand(0)).isSignlessInteger(8) ||
      generic.getNumParallelLoops() != generic.getNumLoops())
    return {};
  Operation *read =
      generic.getBlock()->getTerminator()->getOperand(0).getDefiningOp();
  if (!read || !isa<memref::LoadOp, tensor::ExtractOp>(read) ||
      read->getNumOperands() != 2 || !isTable(read->getOperand(0)))
    return {};
  auto index = read->getOperand(1).getDefiningOp<arith::IndexCastUIOp>();
  if (!index || index.getIn() != generic.getBlock()->getArgument(0))
    return {};
  return read->getOperand(0);
}
