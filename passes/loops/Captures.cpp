//===- Captures.cpp - values that a loop uses from outside ----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/loops/Captures.h"

#include "passes/support/Thresholds.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace ingot;

loops::Captures::Captures(linalg::LinalgOp op) {
  for (Value operand : op->getOperands())
    add(operand);
  SetVector<Value> inside;
  getUsedValuesDefinedAbove(op->getRegions(), inside);
  for (Value value : inside)
    add(value);
}

void loops::Captures::add(Value value) {
  if (isa<MemRefType>(value.getType())) {
    memrefs.insert(value);
    return;
  }
  Operation *op = value.getDefiningOp();
  // Skip ops that were visited. Otherwise a value that is read twice at each of
  // n steps would be visited 2^n times.
  if (unknown || repeated.contains(op))
    return;
  bool isScalar =
      op && op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
      isa<arith::ArithDialect, affine::AffineDialect, memref::MemRefDialect>(
          op->getDialect());
  if (!isScalar || repeated.size() == size_t(threshold::outlinedRepeatedOps)) {
    unknown = value;
    return;
  }
  for (Value operand : op->getOperands())
    add(operand);
  repeated.insert(op);
}
