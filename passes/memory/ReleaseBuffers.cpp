//===- ReleaseBuffers.cpp - memory that goes back in a run ---------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/memory/ReleaseBuffers.h"

#include "dialects/ingot/IngotDialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace ingot;

bool ingot::isInArena(memref::AllocOp alloc) {
  return alloc.getType().hasStaticShape() &&
         alloc.getType().getLayout().isIdentity();
}

SmallVector<Operation *> ingot::usersOf(Value buffer,
                                        BufferViewFlowAnalysis &aliases) {
  SmallVector<Operation *> users;
  for (Value alias : aliases.resolve(buffer))
    for (Operation *user : alias.getUsers()) {
      users.push_back(user);
      if (isa<memref::ExtractAlignedPointerAsIndexOp>(user))
        llvm::append_range(users, user->getUsers());
    }
  return users;
}

namespace {

/// Buffers of the host that one value owns: nobody else gives them back.
class Owners {
public:
  explicit Owners(BufferViewFlowAnalysis &aliases) : aliases(aliases) {}

  LogicalResult visit(Block &block);

private:
  LogicalResult visitLoop(Operation *loop, OperandRange inits,
                          ValueRange arguments, Operation *yield,
                          ValueRange results);
  void visitBranch(scf::IfOp op);
  bool isHandedOver(Value value, Operation *to);
  void release(Value owner, Block *block, Operation *made);

  BufferViewFlowAnalysis &aliases;
  llvm::DenseSet<Value> owners;
};

} // namespace

/// Whether `value`, which a block has made, is for `to` alone, the block's
/// terminator or a loop: others only fill it before.
bool Owners::isHandedOver(Value value, Operation *to) {
  if (!owners.contains(value) || value.getParentBlock() != to->getBlock())
    return false;
  int64_t times = 0;
  for (Operation *user : value.getUsers()) {
    if (user == to) {
      ++times;
      continue;
    }
    bool isBefore = user->getBlock() == to->getBlock() &&
                    user->isBeforeInBlock(to);
    bool hasView = llvm::any_of(user->getResultTypes(), [](Type type) {
      return isa<BaseMemRefType>(type);
    });
    if (!isBefore || hasView)
      return false;
  }
  return times == 1;
}

LogicalResult Owners::visitLoop(Operation *loop, OperandRange inits,
                                ValueRange arguments, Operation *yield,
                                ValueRange results) {
  for (auto [i, init] : llvm::enumerate(inits)) {
    if (!isa<MemRefType>(init.getType()))
      continue;
    Value next = yield->getOperand(i);
    auto made = next.getDefiningOp<memref::AllocOp>();
    if (made && isInArena(made) && made->getBlock() == yield->getBlock())
      return loop->emitOpError("carries a buffer that each step makes anew at "
                               "one place of the arena");
    if (!isHandedOver(init, loop) || !isHandedOver(next, yield))
      continue;
    // Another yield may be what a step began with.
    auto same = aliases.resolve(arguments[i]);
    if (llvm::any_of(yield->getOperands(), [&](Value other) {
          return other != next && same.contains(other);
        }))
      continue;
    owners.erase(init);
    owners.erase(next);
    owners.insert(results[i]);
    OpBuilder builder(yield);
    memref::DeallocOp::create(builder, loop->getLoc(), arguments[i]);
  }
  return success();
}

void Owners::visitBranch(scf::IfOp op) {
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    if (!isa<MemRefType>(result.getType()))
      continue;
    Value then = op.thenYield().getOperand(i),
          otherwise = op.elseYield().getOperand(i);
    if (!isHandedOver(then, op.thenYield()) ||
        !isHandedOver(otherwise, op.elseYield()))
      continue;
    owners.erase(then);
    owners.erase(otherwise);
    owners.insert(result);
  }
}

void Owners::release(Value owner, Block *block, Operation *made) {
  Operation *last = made;
  for (Operation *user : usersOf(owner, aliases)) {
    Operation *top = block->findAncestorOpInBlock(*user);
    if (!top || top->hasTrait<OpTrait::IsTerminator>())
      return;
    if (last->isBeforeInBlock(top))
      last = top;
  }
  OpBuilder builder(owner.getContext());
  builder.setInsertionPointAfter(last);
  memref::DeallocOp::create(builder, owner.getLoc(), owner);
}

LogicalResult Owners::visit(Block &block) {
  SmallVector<Operation *> ops;
  for (Operation &op : block)
    ops.push_back(&op);
  for (Operation *op : ops) {
    auto alloc = dyn_cast<memref::AllocOp>(op);
    if ((alloc && !isInArena(alloc)) || isa<StackOp>(op))
      owners.insert(op->getResult(0));
    for (Region &region : op->getRegions())
      for (Block &inner : region)
        if (failed(visit(inner)))
          return failure();
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      if (failed(visitLoop(op, loop.getInitArgs(), loop.getRegionIterArgs(),
                           loop.getBody()->getTerminator(),
                           loop.getResults())))
        return failure();
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      if (failed(visitLoop(op, loop.getInits(), loop.getAfterArguments(),
                           loop.getYieldOp(), loop.getResults())))
        return failure();
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      if (branch.elseBlock())
        visitBranch(branch);
    }
  }
  // What the terminator hands over, whom it goes to looks at.
  auto handedOver = block.getTerminator()->getOperands();
  for (Operation *op : ops)
    for (Value result : op->getResults())
      if (owners.contains(result) &&
          !llvm::is_contained(handedOver, result)) {
        release(result, &block, op);
        owners.erase(result);
      }
  return success();
}

LogicalResult ingot::releaseBuffers(func::FuncOp function,
                                    BufferViewFlowAnalysis &aliases) {
  return Owners(aliases).visit(function.getBody().front());
}
