//===- RecurrentDirections.cpp - loops over time side by side -------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/kernel/RecurrentDirections.h"

#include "passes/support/Shapes.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace ingot;
using kernel::RecurrentLoop;
using support::typeOf;

/// Returns true if one cell computes the steps of both loops.
static bool areAlike(RecurrentLoop &a, RecurrentLoop &b) {
  auto hasEqual = [](Region &x, Region &y) {
    return OperationEquivalence::isRegionEquivalentTo(
        &x, &y, OperationEquivalence::IgnoreLocations);
  };
  auto widthOf = [](nn::MatMulOp product) {
    return typeOf(product.getY()).getShape().back();
  };
  return a.hidden == b.hidden && a.numStates == b.numStates &&
         a.stores == b.stores && a.lengths == b.lengths && a.gates == b.gates &&
         // Bounds that are both dynamic may differ, because each direction
         // counts its own steps.
         getConstantIntValue(a.loop.getUpperBound()) ==
             getConstantIntValue(b.loop.getUpperBound()) &&
         a.part.getSourceType() == b.part.getSourceType() &&
         a.loop.getResultTypes() == b.loop.getResultTypes() &&
         a.operands.size() == b.operands.size() &&
         llvm::equal(llvm::map_range(a.products, widthOf),
                     llvm::map_range(b.products, widthOf)) &&
         hasEqual(a.cell, b.cell) && hasEqual(a.reset, b.reset);
}

static bool usesAny(Operation *op, const llvm::DenseSet<Value> &values) {
  return op
      ->walk([&](Operation *inner) {
        return llvm::any_of(inner->getOperands(),
                            [&](Value value) { return values.contains(value); })
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Moves users of the first loop behind the second loop, unless the second
/// depends on the first. The second loop is below the first.
static bool bringTogether(RecurrentLoop &first, RecurrentLoop &second) {
  if (first.loop->getBlock() != second.loop->getBlock())
    return false;
  llvm::DenseSet<Value> needing(first.loop.result_begin(),
                                first.loop.result_end());
  SmallVector<Operation *> moved;
  for (Operation *op = first.loop->getNextNode(); op != second.loop;
       op = op->getNextNode()) {
    if (!usesAny(op, needing))
      continue;
    if (!isMemoryEffectFree(op))
      return false;
    moved.push_back(op);
    needing.insert(op->result_begin(), op->result_end());
  }
  if (usesAny(second.loop, needing))
    return false;
  for (Operation *op : llvm::reverse(moved))
    op->moveAfter(second.loop);
  return true;
}

bool kernel::joinDirections(RecurrentLoop &first, RecurrentLoop &second) {
  return areAlike(first, second) && bringTogether(first, second);
}
