//===- Elementwise.cpp - bodies of loops on vectors -----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/kernels/rows/Elementwise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace ingot;

void cpu::sinkConstants(OpBuilder &b, linalg::GenericOp op) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.getBlock());
  llvm::SetVector<Value> outside;
  getUsedValuesDefinedAbove(op.getRegion(), outside);
  for (Value value : outside)
    replaceAllUsesInRegionWith(
        value, b.clone(*value.getDefiningOp())->getResult(0), op.getRegion());
}

bool cpu::isElementwise(linalg::GenericOp op, function_ref<bool(Type)> isLane) {
  // Accepts a value from outside of the body only if it is a constant, because
  // only constants can become vectors.
  auto isKnown = [&](Value value) {
    return value.getParentBlock() == op.getBlock() ||
           matchPattern(value, m_Constant());
  };
  for (Operation &step : op.getBlock()->without_terminator()) {
    if (auto constant = dyn_cast<arith::ConstantOp>(step)) {
      if (!isa<FloatType, IntegerType>(constant.getType()))
        return false;
      continue;
    }
    // Excludes integer divisions, because they would divide by zero in lanes
    // outside of the row.
    if (!OpTrait::hasElementwiseMappableTraits(&step) ||
        isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
            arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>(step))
      return false;
    for (Type type : step.getResultTypes())
      if (!isLane(type) && !type.isSignlessInteger(1))
        return false;
    if (!llvm::all_of(step.getOperands(), isKnown))
      return false;
  }
  return llvm::all_of(op.getBlock()->getTerminator()->getOperands(), isKnown);
}

bool cpu::computes(linalg::GenericOp op) {
  return !llvm::all_of(
      op.getBlock()->without_terminator(),
      [](Operation &step) { return isa<arith::ConstantOp>(step); });
}
