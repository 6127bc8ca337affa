//===- JoinCopies.cpp - cuda-join-copies ----------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cuda/CudaDialect.h"
#include "passes/cuda/Passes.h"
#include "passes/cuda/host/HostMemory.h"
#include "passes/support/Contains.h"
#include "passes/support/StoreOutputCall.h"
#include "passes/support/Views.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/MapVector.h"

namespace ingot {
#define GEN_PASS_DEF_JOINCOPIES
#include "passes/cuda/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

namespace {

/// Follows the ops of one block. Ops on the CPU without work of the GPU in
/// between are a group.
class Joiner {
public:
  Joiner(SymbolTable &symbols) : symbols(symbols) {}

  void join(Block &block);

  int64_t numCopies = 0, numWaits = 0;

private:
  bool endsGroup(Operation *op);
  bool isDeferred(Value whole) const;
  bool hoist(ToHostOp copy);
  void visit(ToHostOp copy);
  void visit(ToDeviceOp copy);
  void visit(WaitOp wait);
  void visit(memref::DeallocOp dealloc);
  void copyBack(Operation *before);

  SymbolTable &symbols;
  /// The copies to the GPU that have not been made yet, by the GPU's buffer.
  llvm::MapVector<Value, ToDeviceOp> deferred;
  /// Buffers whose elements the host has.
  DenseSet<Value> known;
  /// The wait of the group, behind its first copies; null if there is none.
  WaitOp firstWait;
  /// True if a copy may be under way that the host has not waited for.
  bool isUnderWay = true;
};

struct JoinCopiesPass : ingot::impl::JoinCopiesBase<JoinCopiesPass> {
  void runOnOperation() override;
};

} // namespace

/// Returns the memref that has the same elements as `memref` and is no other
/// form of one.
static Value elementsOf(Value memref) {
  while (Operation *op = memref.getDefiningOp()) {
    if (!isa<memref::CastOp, memref::CollapseShapeOp, memref::ExpandShapeOp>(
            op))
      break;
    memref = op->getOperand(0);
  }
  return memref;
}

/// Returns true if `op` or an op inside uses the memory of the GPU. Others use
/// host memory, because `cuda-run-on-host` has given them copies.
bool Joiner::endsGroup(Operation *op) {
  if (op->hasTrait<OpTrait::IsTerminator>())
    return true;
  return support::contains(op, [&](Operation *inside) {
    if (isa<cuda::LaunchOp, StatusOp, RoomOp, memref::CopyOp, memref::DeallocOp,
            ToHostOp, ToDeviceOp, WaitOp>(inside) ||
        StoreOutputCall::find(inside))
      return true;
    auto call = dyn_cast<func::CallOp>(inside);
    if (!call)
      return false;
    // Functions of the runtime do no work on the GPU. Functions of the model
    // need memrefs for it.
    auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
    return !callee || (!callee.isDeclaration() &&
                       llvm::any_of(call.getOperandTypes(),
                                    llvm::IsaPred<BaseMemRefType>));
  });
}

bool Joiner::isDeferred(Value whole) const {
  return llvm::any_of(
      deferred, [&](auto &entry) { return wholeOf(entry.first) == whole; });
}

/// Makes the deferred copies to the GPU in front of `before`.
void Joiner::copyBack(Operation *before) {
  isUnderWay |= !deferred.empty();
  for (auto &[buffer, copy] : deferred)
    copy->moveBefore(before);
  deferred.clear();
  // A later copy to the host must not move in front of these copies.
  firstWait = nullptr;
}

/// Moves a copy to the host in front of the group's wait. Returns false if its
/// buffer is not known there.
bool Joiner::hoist(ToHostOp copy) {
  if (!firstWait)
    return false;
  auto isKnownThere = [&](Value value) {
    Operation *op = value.getDefiningOp();
    return !op || op->getBlock() != firstWait->getBlock() ||
           op->isBeforeInBlock(firstWait);
  };
  auto shadow = copy.getHost().getDefiningOp<ShadowOp>();
  if (!shadow || shadow->getBlock() != firstWait->getBlock() ||
      !isKnownThere(shadow.getDevice()) || !isKnownThere(copy.getDevice()))
    return false;
  if (!shadow->isBeforeInBlock(firstWait))
    shadow->moveBefore(firstWait);
  copy->moveBefore(firstWait);
  return true;
}

void Joiner::visit(ToHostOp copy) {
  Value buffer = elementsOf(copy.getDevice());
  if (known.contains(buffer)) {
    copy.erase();
    ++numCopies;
    return;
  }
  known.insert(buffer);
  // The group has written a part of the buffer.
  if (isDeferred(wholeOf(buffer)))
    copyBack(copy);
  else if (hoist(copy))
    return;
  isUnderWay = true;
}

void Joiner::visit(ToDeviceOp copy) {
  Value buffer = elementsOf(copy.getDevice());
  // Shadows live as long as the run. Other host memory may be released, or
  // change, before a deferred copy.
  if (!support::baseOf(copy.getHost()).getDefiningOp<ShadowOp>()) {
    copyBack(copy);
    known.clear();
    isUnderWay = true;
    return;
  }
  ToDeviceOp &last = deferred[buffer];
  if (last) {
    last.erase();
    ++numCopies;
  }
  last = copy;
  known.insert(buffer);
}

void Joiner::visit(WaitOp wait) {
  if (isUnderWay) {
    firstWait = firstWait ? firstWait : wait;
    isUnderWay = false;
    return;
  }
  wait.erase();
  ++numWaits;
}

/// Drops copies to a buffer that is released: nothing reads its elements.
void Joiner::visit(memref::DeallocOp dealloc) {
  Value whole = wholeOf(dealloc.getMemref());
  deferred.remove_if([&](auto &entry) {
    if (wholeOf(entry.first) != whole)
      return false;
    entry.second->erase();
    ++numCopies;
    return true;
  });
}

void Joiner::join(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto copy = dyn_cast<ToHostOp>(op)) {
      visit(copy);
    } else if (auto copy = dyn_cast<ToDeviceOp>(op)) {
      visit(copy);
    } else if (auto wait = dyn_cast<WaitOp>(op)) {
      visit(wait);
    } else if (auto dealloc = dyn_cast<memref::DeallocOp>(op)) {
      visit(dealloc);
    } else if (endsGroup(&op)) {
      copyBack(&op);
      known.clear();
      isUnderWay = true;
    }
  }
}

void JoinCopiesPass::runOnOperation() {
  SymbolTable symbols(getOperation());
  getOperation().walk([&](Block *block) {
    // Only host code has copies.
    Joiner joiner(symbols);
    joiner.join(*block);
    copies += joiner.numCopies;
    waits += joiner.numWaits;
  });
}
