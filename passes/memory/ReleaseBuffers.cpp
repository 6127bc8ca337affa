//===- ReleaseBuffers.cpp - release of buffers during a run ---------------===//
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
  IngotDialect::MostBytesAttrHelper most(alloc.getContext());
  return (alloc.getType().hasStaticShape() || most.isAttrPresent(alloc)) &&
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

/// Tracks host buffers. Exactly one value owns a buffer, and this value has to
/// release it.
class Owners {
public:
  explicit Owners(BufferViewFlowAnalysis &aliases) : aliases(aliases) {}

  LogicalResult visit(Block &block);

private:
  LogicalResult visitFor(scf::ForOp loop);
  LogicalResult visitWhile(scf::WhileOp loop);
  void visitBranch(scf::IfOp op);
  bool isHandedOver(Value value, Operation *to);
  bool mayGoOn(Value argument, Operation *terminator, Value own);
  void release(Value owner, Block *block, Operation *made);

  BufferViewFlowAnalysis &aliases;
  llvm::DenseSet<Value> owners;
};

} // namespace

/// Returns true if its block creates `value` and passes it on only to `to`, a
/// loop or the block's terminator. Other users must come before `to`.
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

/// Returns true if a terminator may pass on the buffer of a block's argument.
/// Ignores the value `own`, because its buffer is another one.
bool Owners::mayGoOn(Value argument, Operation *terminator, Value own) {
  auto same = aliases.resolve(argument);
  return llvm::any_of(terminator->getOperands(), [&](Value other) {
    return other != own && same.contains(other);
  });
}

/// Reports a loop that carries an arena buffer and allocates it in each step.
/// All steps would share this one buffer.
static LogicalResult checkCarried(Operation *loop, Operation *yield) {
  for (Value next : yield->getOperands()) {
    auto made = next.getDefiningOp<memref::AllocOp>();
    if (made && isInArena(made) && made->getBlock() == yield->getBlock())
      return loop->emitOpError("carries a buffer that each step makes anew at "
                               "one place of the arena");
  }
  return success();
}

static void releaseBefore(Operation *terminator, Value argument) {
  OpBuilder builder(terminator);
  memref::DeallocOp::create(builder, terminator->getLoc(), argument);
}

LogicalResult Owners::visitFor(scf::ForOp loop) {
  Operation *yield = loop.getBody()->getTerminator();
  if (failed(checkCarried(loop, yield)))
    return failure();
  for (auto [i, init] : llvm::enumerate(loop.getInitArgs())) {
    Value next = yield->getOperand(i), argument = loop.getRegionIterArg(i);
    if (!isa<MemRefType>(init.getType()) || !isHandedOver(init, loop) ||
        !isHandedOver(next, yield) || mayGoOn(argument, yield, next))
      continue;
    owners.erase(init);
    owners.erase(next);
    owners.insert(loop.getResult(i));
    releaseBefore(yield, argument);
  }
  return success();
}

LogicalResult Owners::visitWhile(scf::WhileOp loop) {
  scf::ConditionOp condition = loop.getConditionOp();
  Operation *yield = loop.getYieldOp();
  if (failed(checkCarried(loop, yield)) ||
      failed(checkCarried(loop, condition)))
    return failure();
  // Arguments of the condition that own their buffers.
  llvm::SmallDenseSet<Value> own;
  for (auto [i, init] : llvm::enumerate(loop.getInits())) {
    Value next = yield->getOperand(i), argument = loop.getBeforeArguments()[i];
    if (!isa<MemRefType>(init.getType()) || !isHandedOver(init, loop) ||
        !isHandedOver(next, yield))
      continue;
    owners.erase(init);
    owners.erase(next);
    int64_t times = llvm::count(condition.getArgs(), argument);
    if (times == 1)
      own.insert(argument);
    else if (times == 0 && !mayGoOn(argument, condition, Value()))
      releaseBefore(condition, argument);
  }
  for (auto [i, given] : llvm::enumerate(condition.getArgs())) {
    if (!isa<MemRefType>(given.getType()))
      continue;
    bool isOwned = own.contains(given);
    if (!isOwned && isHandedOver(given, condition)) {
      owners.erase(given);
      isOwned = true;
    }
    if (!isOwned)
      continue;
    owners.insert(loop.getResult(i));
    Value argument = loop.getAfterArguments()[i];
    if (!mayGoOn(argument, yield, Value()))
      releaseBefore(yield, argument);
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
      if (failed(visitFor(loop)))
        return failure();
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      if (failed(visitWhile(loop)))
        return failure();
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      if (branch.elseBlock())
        visitBranch(branch);
    }
  }
  // Leaves values that the terminator passes on to the op that receives them.
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
