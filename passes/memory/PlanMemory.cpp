//===- PlanMemory.cpp - plan-memory ---------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/ingot/IngotDialect.h"
#include "passes/memory/Passes.h"
#include "passes/memory/ArenaPlan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace ingot {
#define GEN_PASS_DEF_PLANMEMORY
#include "passes/memory/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

namespace {

struct PlanMemoryPass : ingot::impl::PlanMemoryBase<PlanMemoryPass> {
  void runOnOperation() override;

  LogicalResult plan(func::FuncOp function, Value arena);
  void releaseDynamic(ArrayRef<memref::AllocOp> allocs,
                      BufferViewFlowAnalysis &aliases);
};

} // namespace

static int64_t byteSize(MemRefType type) {
  unsigned bits = type.getElementType().isIndex()
                      ? 64
                      : type.getElementTypeBitWidth();
  return type.getNumElements() * std::max<int64_t>(1, bits / 8);
}

/// Position of each op of the function's block; ops nested in one count as it.
static DenseMap<Operation *, int64_t> numberOps(Block &body) {
  DenseMap<Operation *, int64_t> positions;
  int64_t next = 0;
  for (Operation &op : body)
    positions[&op] = next++;
  return positions;
}

/// Everything that touches a buffer: users of it, of a view of it, and of its
/// address.
static SmallVector<Operation *> usersOf(memref::AllocOp alloc,
                                        BufferViewFlowAnalysis &aliases) {
  SmallVector<Operation *> users;
  for (Value alias : aliases.resolve(alloc))
    for (Operation *user : alias.getUsers()) {
      users.push_back(user);
      if (isa<memref::ExtractAlignedPointerAsIndexOp>(user))
        llvm::append_range(users, user->getUsers());
    }
  return users;
}

/// A buffer lives from the first op that touches it to the last.
static ArenaBuffer lifetimeOf(memref::AllocOp alloc, Block &body,
                              const DenseMap<Operation *, int64_t> &positions,
                              BufferViewFlowAnalysis &aliases) {
  ArenaBuffer buffer;
  buffer.bytes = byteSize(alloc.getType());
  buffer.first = buffer.last =
      positions.lookup(body.findAncestorOpInBlock(*alloc));
  int64_t firstUse = std::numeric_limits<int64_t>::max();
  for (Operation *user : usersOf(alloc, aliases)) {
    int64_t at = positions.lookup(body.findAncestorOpInBlock(*user));
    buffer.last = std::max(buffer.last, at);
    firstUse = std::min(firstUse, at);
  }
  // Memory is taken where it is first used, not where it is named.
  if (firstUse != std::numeric_limits<int64_t>::max())
    buffer.first = firstUse;
  return buffer;
}

/// Buffers whose size is known only in a run come from the host; each is given
/// back after its last use in its block.
void PlanMemoryPass::releaseDynamic(ArrayRef<memref::AllocOp> allocs,
                                    BufferViewFlowAnalysis &aliases) {
  for (memref::AllocOp alloc : allocs) {
    Block *block = alloc->getBlock();
    Operation *last = alloc;
    bool escapes = false;
    for (Operation *user : usersOf(alloc, aliases)) {
      Operation *top = block->findAncestorOpInBlock(*user);
      if (!top || top->hasTrait<OpTrait::IsTerminator>())
        escapes = true;
      else if (last->isBeforeInBlock(top))
        last = top;
    }
    // The host takes back what is left at the end of a run.
    if (escapes)
      continue;
    OpBuilder builder(alloc.getContext());
    builder.setInsertionPointAfter(last);
    memref::DeallocOp::create(builder, alloc.getLoc(), alloc);
  }
}

LogicalResult PlanMemoryPass::plan(func::FuncOp function, Value arena) {
  Block &body = function.getBody().front();
  SmallVector<memref::AllocOp> fixed, dynamic;
  function.walk([&](memref::AllocOp alloc) {
    bool isStatic = alloc.getType().hasStaticShape() &&
                    alloc.getType().getLayout().isIdentity();
    (isStatic ? fixed : dynamic).push_back(alloc);
  });
  BufferViewFlowAnalysis aliases(function);
  DenseMap<Operation *, int64_t> positions = numberOps(body);
  SmallVector<ArenaBuffer> buffers;
  for (memref::AllocOp alloc : fixed)
    buffers.push_back(lifetimeOf(alloc, body, positions, aliases));
  releaseDynamic(dynamic, aliases);

  int64_t arenaBytes = assignOffsets(buffers);
  if (failed(verifyOffsets(buffers)))
    return function.emitError("memory plan overlaps live buffers");

  SmallVector<Attribute> rows;
  Builder attrs(&getContext());
  for (auto [alloc, buffer] : llvm::zip_equal(fixed, buffers)) {
    OpBuilder builder(alloc);
    Value offset = arith::ConstantIndexOp::create(builder, alloc.getLoc(),
                                                  buffer.offset);
    Value view = memref::ViewOp::create(builder, alloc.getLoc(),
                                        alloc.getType(), arena, offset,
                                        ValueRange());
    alloc.replaceAllUsesWith(view);
    alloc.erase();
    rows.push_back(SlotAttr::get(&getContext(), buffer.offset, buffer.bytes,
                                 buffer.first, buffer.last));
  }
  ModuleOp module = getOperation();
  IngotDialect::ArenaBytesAttrHelper(&getContext())
      .setAttr(module, attrs.getI64IntegerAttr(arenaBytes));
  IngotDialect::ArenaLowerBoundAttrHelper(&getContext())
      .setAttr(module, attrs.getI64IntegerAttr(lowerBound(buffers)));
  IngotDialect::MemoryPlanAttrHelper(&getContext())
      .setAttr(module, attrs.getArrayAttr(rows));
  return success();
}

void PlanMemoryPass::runOnOperation() {
  for (auto function : getOperation().getOps<func::FuncOp>())
    if (BlockArgument arena = findRunOperand(function, RunOperand::arena))
      if (failed(plan(function, arena)))
        return signalPassFailure();
}
