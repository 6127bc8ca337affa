//===- HoistChecks.cpp - ingot-hoist-checks -------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A check has to come before every access to memory that relies on it. Standing
// before the op that it is about is not enough: once that op's result has a
// buffer, what computes its operands may write there. So checks go up as far as
// their values allow.
//
//===----------------------------------------------------------------------===//
#include "passes/Passes.h"

#include "dialects/ingot/IngotDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace ingot {
#define GEN_PASS_DEF_HOISTCHECKS
#include "passes/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

namespace {

struct HoistChecksPass : ingot::impl::HoistChecksBase<HoistChecksPass> {
  void runOnOperation() override;
};

} // namespace

/// Arithmetic on sizes, which may stand anywhere behind its operands.
static bool isArithmetic(Operation *op) {
  return isa<tensor::DimOp>(op) ||
         (isa<arith::ArithDialect>(op->getDialect()) &&
          llvm::none_of(op->getResultTypes(), llvm::IsaPred<ShapedType>));
}

void HoistChecksPass::runOnOperation() {
  func::FuncOp function = getOperation();
  if (function.isExternal() || !function.getBody().hasOneBlock())
    return;
  Block &body = function.getBody().front();
  // The arithmetic that checks need.
  llvm::DenseSet<Operation *> needed;
  for (Operation &op : llvm::reverse(body)) {
    if (!isa<RequireOp>(op) && !needed.contains(&op))
      continue;
    for (Value operand : op.getOperands())
      if (Operation *source = operand.getDefiningOp();
          source && source->getBlock() == &body && isArithmetic(source))
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
      for (Value operand : op.getOperands())
        if (Operation *source = operand.getDefiningOp()) {
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
