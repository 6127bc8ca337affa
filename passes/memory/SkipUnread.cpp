//===- SkipUnread.cpp - ingot-skip-unread ---------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/ingot/IngotDialect.h"
#include "dialects/kernel/KernelInterfaces.h"
#include "passes/memory/Passes.h"
#include "passes/memory/WrittenBuffers.h"
#include "passes/support/SkippedBuffers.h"
#include "passes/support/Thresholds.h"
#include "passes/support/Views.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace ingot {
#define GEN_PASS_DEF_SKIPUNREAD
#include "passes/memory/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

namespace {

/// Buffers that can only be skipped together, because one op writes several of
/// them. The targets are the other buffers that users of the group's buffers
/// write. If all targets are empty, the run does not need the group.
struct Group {
  llvm::SetVector<Value> buffers, targets;
  /// True if some op reads the same element of one of the buffers many times.
  bool spreads = false;
};

struct SkipUnreadPass : ingot::impl::SkipUnreadBase<SkipUnreadPass> {
  void runOnOperation() override;

private:
  /// Makes the buffers of a group empty if no op reads them at run time.
  void skip(const Group &group);
  /// Returns an i1 in front of `place` that is true if `target` is empty, or
  /// null.
  Value emptyWhen(Value target, Operation *place);

  /// Conditions by buffer: a buffer is left out if its condition holds.
  llvm::DenseMap<Value, Value> conditions;
};

} // namespace

/// Adds the ops of `block` that read or write `memref` or a view of it. Fails
/// if an op reads the memref's sizes.
static LogicalResult addUsers(Value memref, Block &block,
                              llvm::SetVector<Operation *> &users) {
  for (Operation *user : memref.getUsers()) {
    auto view = dyn_cast<ViewLikeOpInterface>(user);
    if (view && view.getViewSource() == memref) {
      for (Value result : user->getResults())
        if (!isa<MemRefType>(result.getType()) ||
            failed(addUsers(result, block, users)))
          return failure();
      continue;
    }
    if (isa<memref::DimOp>(user))
      return failure();
    if (!isa<memref::DeallocOp>(user))
      users.insert(block.findAncestorOpInBlock(*user));
  }
  return success();
}

/// Returns true if an op does nothing when its buffers are empty: it launches
/// no tasks, or takes no step.
static bool canBeSkipped(Operation *op) {
  auto kernelOp = dyn_cast<kernel::KernelOpInterface>(op);
  return isa<linalg::LinalgOp, scf::ForOp>(op) ||
         (kernelOp && kernelOp.isLaunched());
}

/// Returns true if an op reads each element of `buffer` many times. Examples
/// are a row's mean that is read for the whole row, and reads in a loop.
static bool spreads(Operation *op, Value buffer) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp)
    return isa<scf::ForOp>(op);
  return llvm::any_of(linalgOp.getDpsInputOperands(), [&](OpOperand *operand) {
    AffineMap map = linalgOp.getMatchingIndexingMap(operand);
    return support::baseOf(operand->get()) == buffer &&
           llvm::any_of(llvm::seq(map.getNumDims()), [&](unsigned loop) {
             return !map.isFunctionOfDim(loop);
           });
  });
}

/// Moves the ops that compute `value` before `place`. Fails if an op cannot be
/// moved.
static LogicalResult hoist(Value value, Operation *place, int depth = 16) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return success();
  if (op->getBlock() != place->getBlock() || depth == 0)
    return failure();
  if (op->isBeforeInBlock(place))
    return success();
  if (op->getNumRegions() != 0 || !isPure(op))
    return failure();
  for (Value operand : op->getOperands())
    if (failed(hoist(operand, place, depth - 1)))
      return failure();
  op->moveBefore(place);
  return success();
}

Value SkipUnreadPass::emptyWhen(Value target, Operation *place) {
  if (Value known = conditions.lookup(target))
    return succeeded(hoist(known, place)) ? known : Value();
  Operation *made = target.getDefiningOp();
  if (made && !isa<memref::AllocOp, RoomOp>(made))
    return {};
  if (made)
    for (Value size : made->getOperands())
      if (failed(hoist(size, place)))
        return {};
  OpBuilder builder(place);
  return isEmpty(builder, place->getLoc(), target);
}

/// Returns true if a buffer may be empty and has few elements per row. Rows are
/// counted by the open sizes. Skipping a buffer with long rows, such as all
/// channels of a batch, does not pay: few models ever run without images.
static bool isOfRows(Value buffer) {
  int64_t count = 1;
  for (int64_t size : cast<MemRefType>(buffer.getType()).getShape())
    if (!ShapedType::isDynamic(size))
      count = std::min(threshold::skippedElements + 1, count * size);
  return canBeEmpty(buffer) && count <= threshold::skippedElements;
}

/// Returns the group of buffers that `alloc` belongs to. Returns nullopt if a
/// run may need the group although all its targets are empty.
static std::optional<Group> groupOf(memref::AllocOp alloc) {
  Group group;
  group.buffers.insert(alloc);
  for (size_t i = 0; i < group.buffers.size(); ++i) {
    Value buffer = group.buffers[i];
    llvm::SetVector<Operation *> users;
    if (failed(addUsers(buffer, *alloc->getBlock(), users)))
      return std::nullopt;
    for (Operation *user : users) {
      std::optional<llvm::SetVector<Value>> own = writtenBuffersOf(user);
      if (!own || (own->contains(buffer) && !canBeSkipped(user)))
        return std::nullopt;
      group.spreads |= spreads(user, buffer);
      for (Value target : *own) {
        auto other = target.getDefiningOp<memref::AllocOp>();
        bool isMember = own->contains(buffer) && other &&
                        other->getBlock() == alloc->getBlock();
        (isMember ? group.buffers : group.targets).insert(target);
      }
    }
  }
  group.targets.remove_if(
      [&](Value target) { return group.buffers.contains(target); });
  bool canSkip = !group.targets.empty() &&
                 llvm::all_of(group.targets, canBeEmpty) &&
                 llvm::all_of(group.buffers, isOfRows);
  return canSkip ? std::optional(group) : std::nullopt;
}

/// Returns true if a buffer is empty whenever all targets are empty, because it
/// has all open sizes of one target.
static bool isEmptyAnyway(memref::AllocOp alloc, const Group &group) {
  ValueRange sizes = alloc.getDynamicSizes();
  return llvm::any_of(group.targets, [&](Value target) {
    Operation *made = target.getDefiningOp();
    return isa_and_nonnull<memref::AllocOp, RoomOp>(made) &&
           llvm::all_of(made->getOperands(), [&](Value operand) {
             return llvm::is_contained(sizes, operand);
           });
  });
}

void SkipUnreadPass::skip(const Group &group) {
  SmallVector<memref::AllocOp> allocs;
  for (Value buffer : group.buffers) {
    auto alloc = cast<memref::AllocOp>(buffer.getDefiningOp());
    if (!isEmptyAnyway(alloc, group))
      allocs.push_back(alloc);
  }
  if (allocs.empty())
    return;
  memref::AllocOp first = *llvm::min_element(
      allocs, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  Value condition;
  for (Value target : group.targets) {
    Value empty = emptyWhen(target, first);
    if (!empty)
      return;
    OpBuilder builder(first);
    condition = condition ? arith::AndIOp::create(builder, first.getLoc(),
                                                  condition, empty)
                          : empty;
  }
  for (memref::AllocOp alloc : allocs) {
    skipWhen(alloc, condition);
    conditions[alloc] = condition;
    ++numSkipped;
  }
}

void SkipUnreadPass::runOnOperation() {
  func::FuncOp function = getOperation();
  if (!findRunOperand(function, RunOperand::arena) ||
      !function.getBody().hasOneBlock())
    return;
  // Go backwards, so that the readers of a buffer are decided before the
  // buffer.
  Block &body = function.getBody().front();
  SmallVector<memref::AllocOp> allocs(body.getOps<memref::AllocOp>());
  llvm::DenseSet<Value> seen;
  for (memref::AllocOp alloc : llvm::reverse(allocs)) {
    if (seen.contains(alloc) || !isOfRows(alloc))
      continue;
    std::optional<Group> group = groupOf(alloc);
    if (!group)
      continue;
    seen.insert_range(group->buffers);
    // Skip no other groups. Their buffers have about as many elements as their
    // targets, so little work is saved.
    if (group->spreads || llvm::any_of(group->targets, [&](Value target) {
          return conditions.contains(target);
        }))
      skip(*group);
  }
}
