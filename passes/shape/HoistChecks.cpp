//===- HoistChecks.cpp - ingot-hoist-checks -------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A check must come before every access to memory that relies on it. The
// position before the checked op is not enough. Once the op's result has a
// buffer, ops that compute its operands may write to this buffer. Upstream's
// passes also move side-effect-free ops on tensors past the check. So the pass
// moves checks up, with all ops that they need, and keeps their order.
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

/// Returns the ops of `body` that `op` or its regions use.
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
  // A check in a branch or a loop stays in this block.
  llvm::SetVector<Block *> blocks;
  function.walk([&](RequireOp op) { blocks.insert(op->getBlock()); });
  for (Block *block : blocks)
    hoist(*block);
}

void HoistChecksPass::hoist(Block &body) {
  // Ops that checks need: size arithmetic and, if data decide a size, the ops
  // that compute it.
  llvm::DenseSet<Operation *> needed;
  for (Operation &op : llvm::reverse(body)) {
    if (!isa<RequireOp>(op) && !needed.contains(&op))
      continue;
    for (Operation *source : sourcesOf(&op, body))
      if (isMemoryEffectFree(source))
        needed.insert(source);
  }
  // For each op, the last op that must stay before it, or null. The class
  // numbers the ops itself, because after a move the block would renumber its
  // ops at each query.
  struct LastSource {
    int64_t number = -1;
    Operation *after = nullptr;
  };
  llvm::DenseMap<Operation *, LastSource> places;
  llvm::MapVector<Operation *, SmallVector<Operation *>> moved;
  int64_t number = 0;
  for (Operation &op : body) {
    LastSource place;
    bool moves = isa<RequireOp>(op) || needed.contains(&op);
    if (moves)
      for (Operation *source : sourcesOf(&op, body)) {
        LastSource other = places.lookup(source);
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
    // If the op to move before moves itself, the next op takes its role.
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
