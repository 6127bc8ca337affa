//===- SameSizes.cpp - which open sizes are one ---------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/shape/SameSizes.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::shape;

SameSizes::SameSizes(func::FuncOp function) : analysis(function) {
  visited.insert_range(function.getArguments());
  for (Operation &op : function.getBody().front())
    visit(&op);
}

void SameSizes::visit(Operation *op) {
  SmallVector<SizeAnalysis::Rule> open;
  // What surely does not fit was an error before.
  if (failed(analysis.addResults(op, open)))
    return;
  for (const SizeAnalysis::Rule &rule : open)
    analysis.assume(rule);
  visited.insert_range(op->getResults());
  // Bodies of other ops than loops hold scalars only.
  auto loop = dyn_cast<LoopLikeOpInterface>(op);
  if (!loop)
    return;
  analysis.addLoopState(loop);
  for (Region *region : loop.getLoopRegions()) {
    visited.insert_range(region->getArguments());
    for (Operation &inner : region->getOps())
      visit(&inner);
  }
}

bool SameSizes::isSame(Value a, int64_t dimA, Value b, int64_t dimB) {
  if (!visited.contains(a) || !visited.contains(b))
    return false;
  Size size = analysis.sizesOf(a)[dimA];
  return size == analysis.sizesOf(b)[dimB];
}

void SameSizes::forget(Operation *op) {
  for (Value result : op->getResults())
    visited.erase(result);
}
