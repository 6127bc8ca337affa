//===- SameSizes.cpp - which dynamic sizes are equal ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/shape/SameSizes.h"

#include "dialects/nn/TensorTypes.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::shape;

SameSizes::SameSizes(func::FuncOp function) { add(function); }

SameSizes::SameSizes(ModuleOp module) {
  for (func::FuncOp function : module.getOps<func::FuncOp>())
    if (!function.isExternal())
      add(function);
}

void SameSizes::add(func::FuncOp function) {
  SizeAnalysis &analysis =
      *analyses.emplace_back(std::make_unique<SizeAnalysis>(function));
  for (Value argument : function.getArguments())
    visited[argument] = &analysis;
  for (Operation &op : function.getBody().front())
    visit(analysis, &op, &op);
}

void SameSizes::visit(SizeAnalysis &analysis, Operation *op, Operation *top) {
  SmallVector<SizeAnalysis::Rule> open;
  // Ignore a failure, because earlier passes have reported sizes that cannot
  // fit.
  if (failed(analysis.addResults(op, open)))
    return;
  // Rules about sizes that `op` itself computes were not checked. In a branch
  // or a loop, checks hold only there.
  for (const SizeAnalysis::Rule &rule : open)
    if (top && analysis.lastSourceOf(rule.a, *top->getBlock()) != top &&
        analysis.lastSourceOf(rule.b, *top->getBlock()) != top)
      analysis.assume(rule);
  if (auto required = dyn_cast<RequireOp>(op); required && op == top)
    analysis.assume(required);
  for (Value result : op->getResults())
    visited[result] = &analysis;
  if (!hasTensorBody(op))
    return;
  analysis.addLoopState(op);
  if (isOfModel(op))
    top = nullptr;
  for (Region &region : op->getRegions()) {
    for (Value argument : region.getArguments())
      visited[argument] = &analysis;
    for (Operation &inner : region.getOps())
      visit(analysis, &inner, top);
  }
}

bool SameSizes::isSame(Value a, int64_t dimA, Value b, int64_t dimB) const {
  int64_t sizeA = nn::typeOf(a).getDimSize(dimA),
          sizeB = nn::typeOf(b).getDimSize(dimB);
  if (!ShapedType::isDynamic(sizeA) && !ShapedType::isDynamic(sizeB))
    return sizeA == sizeB;
  SizeAnalysis *analysis = visited.lookup(a);
  if (!analysis || analysis != visited.lookup(b))
    return false;
  Size size = analysis->sizesOf(a)[dimA];
  return size == analysis->sizesOf(b)[dimB];
}

bool SameSizes::isSameProduct(Value a, ArrayRef<int64_t> dimsA, Value b,
                              ArrayRef<int64_t> dimsB) const {
  SizeAnalysis *analysis = visited.lookup(a);
  if (!analysis || analysis != visited.lookup(b))
    return false;
  auto productOf = [&](Value value, ArrayRef<int64_t> dims) {
    Size product = getAffineConstantExpr(1, value.getContext());
    for (int64_t dim : dims)
      product = product * analysis->sizesOf(value)[dim];
    return product;
  };
  Size product = productOf(a, dimsA);
  return product == productOf(b, dimsB);
}

void SameSizes::forget(Operation *op) {
  for (Value result : op->getResults())
    visited.erase(result);
}
