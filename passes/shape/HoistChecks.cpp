//===- HoistChecks.cpp - ingot-hoist-checks -------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A check has to come before every access to memory that relies on it. Standing
// before the op that it is about is not enough: once that op's result has a
// buffer, what computes its operands may write there, and upstream's passes
// move ops on tensors, which have no effects, past it. So checks go up with all
// that they need. The order among these stays as it was.
//
//===----------------------------------------------------------------------===//
#include "passes/shape/Passes.h"

#include "dialects/ingot/IngotDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

namespace ingot {
#define GEN_PASS_DEF_HOISTCHECKS
#include "passes/shape/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

namespace {

struct HoistChecksPass : ingot::impl::HoistChecksBase<HoistChecksPass> {
  void runOnOperation() override;
  void hoist(Block &body);
};

} // namespace

/// The ops of `body` that `op` needs, itself or in its regions.
static SmallVector<Operation *> sourcesOf(Operation *op, Block &body) {
  SmallVector<Operation *> sources;
  auto add = [&](Value value) {
    Operation *source = value.getDefiningOp();
    if (source && source->getBlock() == &body)
      sources.push_back(source);
  };
  llvm::for_each(op->getOperands(), add);
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  llvm::for_each(captured, add);
  return sources;
}

void HoistChecksPass::runOnOperation() {
  func::FuncOp function = getOperation();
  if (function.isExternal() || !function.getBody().hasOneBlock())
    return;
  // A check of a branch or of a loop's step stays in there.
  llvm::SetVector<Block *> blocks;
  function.walk([&](RequireOp op) { blocks.insert(op->getBlock()); });
  for (Block *block : blocks)
    hoist(*block);
}

void HoistChecksPass::hoist(Block &body) {
  // What checks need: arithmetic on sizes, and where data decide, the ops that
  // find them.
  llvm::DenseSet<Operation *> needed;
  for (Operation &op : llvm::reverse(body)) {
    if (!isa<RequireOp>(op) && !needed.contains(&op))
      continue;
    for (Operation *source : sourcesOf(&op, body))
      if (isMemoryEffectFree(source))
        needed.insert(source);
  }
  // The last op that each of them has to stand behind; null for none. Ops are
  // numbered, since moving them would make the block do so again and again.
  struct Place {
    int64_t number = -1;
    Operation *after = nullptr;
  };
  llvm::DenseMap<Operation *, Place> places;
  llvm::MapVector<Operation *, SmallVector<Operation *>> moved;
  int64_t number = 0;
  for (Operation &op : body) {
    Place place;
    bool moves = isa<RequireOp>(op) || needed.contains(&op);
    if (moves)
      for (Operation *source : sourcesOf(&op, body)) {
        Place other = places.lookup(source);
        if (other.number > place.number)
          place = other;
      }
    if (!moves)
      place = {number, &op};
    else
      moved[place.after].push_back(&op);
    places[&op] = place;
    ++number;
  }
  Operation *first = &body.front();
  for (auto &[after, ops] : moved) {
    Operation *next = after ? after->getNextNode() : first;
    // What moves itself is no mark to move others before.
    for (Operation *op : ops) {
      if (op == next) {
        next = next->getNextNode();
        continue;
      }
      op->moveBefore(next);
      ++numMoved;
    }
  }
}
