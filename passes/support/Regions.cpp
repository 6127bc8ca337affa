//===- Regions.cpp - regions that move into functions ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/support/Regions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace ingot;

void support::sinkConstants(Region &region) {
  if (region.empty())
    return;
  OpBuilder builder = OpBuilder::atBlockBegin(&region.front());
  // Visits the uses of the region, because a constant may have users
  // throughout the model.
  llvm::MapVector<Value, SmallVector<OpOperand *>> uses;
  visitUsedValuesDefinedAbove(region, region, [&](OpOperand *use) {
    if (use->get().getDefiningOp<arith::ConstantOp>())
      uses[use->get()].push_back(use);
  });
  for (auto &[value, places] : uses) {
    Value inside = builder.clone(*value.getDefiningOp())->getResult(0);
    for (OpOperand *place : places)
      place->set(inside);
  }
}
