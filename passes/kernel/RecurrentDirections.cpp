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

void kernel::forEachRecurrence(
    Operation *root, const RecurrentBuilder &backend,
    function_ref<void(ArrayRef<RecurrentLoop *>)> fuse) {
  SmallVector<std::unique_ptr<RecurrentLoop>> loops;
  root->walk([&](scf::ForOp op) {
    auto loop = std::make_unique<RecurrentLoop>(op, backend);
    if (!loop->match())
      loops.push_back(std::move(loop));
  });
  for (size_t i = 0; i < loops.size(); ++i) {
    RecurrentLoop *next = i + 1 < loops.size() ? loops[i + 1].get() : nullptr;
    if (next && areAlike(*loops[i], *next) && bringTogether(*loops[i], *next)) {
      fuse({loops[i].get(), next});
      ++i;
    } else {
      fuse({loops[i].get()});
    }
  }
}

static Location locationOf(OpBuilder &b, ArrayRef<RecurrentLoop *> directions) {
  return b.getFusedLoc(llvm::map_to_vector(
      directions, [](RecurrentLoop *loop) { return loop->loop.getLoc(); }));
}

kernel::RecurrentOperands::RecurrentOperands(
    OpBuilder &b, ArrayRef<RecurrentLoop *> directions)
    : loc(locationOf(b, directions)) {
  for (RecurrentLoop *loop : directions) {
    srcs.push_back(loop->buildSource(b));
    reverse.push_back(loop->isReverse);
    llvm::append_range(columnOperands, loop->buildOperands(b));
    auto initial = loop->loop.getInitArgs();
    if (loop->stores)
      all.push_back(initial.back());
    llvm::append_range(states, initial.take_front(size_t(loop->numStates)));
  }
}

void kernel::replaceLoops(ArrayRef<RecurrentLoop *> directions,
                          ValueRange results) {
  const size_t numStates = size_t(directions.front()->numStates);
  const size_t numAll = directions.front()->stores ? directions.size() : 0;
  for (auto [d, loop] : llvm::enumerate(directions)) {
    SmallVector<Value> own(results.slice(numAll + d * numStates, numStates));
    if (loop->stores)
      own.push_back(results[d]);
    loop->loop->replaceAllUsesWith(own);
    loop->loop->erase();
  }
}
