//===- PlanMemory.cpp - plan-memory ---------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/ingot/IngotDialect.h"
#include "passes/memory/Passes.h"
#include "passes/memory/ArenaPlan.h"
#include "passes/memory/ReleaseBuffers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

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
};

} // namespace

static int64_t byteSize(memref::AllocOp alloc) {
  IngotDialect::MostBytesAttrHelper most(alloc.getContext());
  if (IntegerAttr bytes = most.getAttr(alloc))
    return bytes.getInt();
  MemRefType type = alloc.getType();
  unsigned bits = type.getElementType().isIndex()
                      ? 64
                      : type.getElementTypeBitWidth();
  return type.getNumElements() * std::max<int64_t>(1, bits / 8);
}

/// Positions of ops that access memory: the first and the last number of their
/// nested ops. Ops on scalars count as the op around them.
using AccessPositions = DenseMap<Operation *, std::pair<int64_t, int64_t>>;

static int64_t numberOps(Block &block, int64_t next, AccessPositions &places) {
  for (Operation &op : block) {
    int64_t first = next++;
    if (isa<scf::ForOp, scf::IfOp, scf::WhileOp>(op))
      for (Region &region : op.getRegions())
        if (!region.empty())
          next = numberOps(region.front(), next, places);
    places[&op] = {first, next - 1};
  }
  return next;
}

/// Returns the positions at which an access by `user` needs the buffer. If the
/// buffer is allocated outside of a loop, it is needed during the whole loop.
static std::pair<int64_t, int64_t> placeOf(Operation *user, Operation *alloc,
                                           const AccessPositions &places) {
  std::pair<int64_t, int64_t> place = {-1, -1};
  for (Operation *op = user; op; op = op->getParentOp()) {
    auto own = places.find(op);
    if (own != places.end() &&
        (place.first < 0 || isa<scf::ForOp, scf::WhileOp>(op)))
      place = own->second;
    if (op->getBlock()->findAncestorOpInBlock(*alloc))
      break;
  }
  return place;
}

/// Returns true if an op only creates a view of a buffer. Such an op stands
/// where the sizes of the view are known, which may be long before the
/// accesses.
static bool isName(Operation *user) {
  return isMemoryEffectFree(user) && !user->hasTrait<OpTrait::IsTerminator>();
}

namespace {

/// Moves the allocs of host buffers down to the first op that accesses the
/// buffer, because the host allocates the memory at the alloc. Without this
/// move, allocs stand where their sizes are known. In a model with open sizes,
/// all allocs would stand at the beginning.
class Sinker {
public:
  explicit Sinker(Block &block) {
    for (Operation &op : block)
      places[&op] = places.size();
  }

  void sink(memref::AllocOp alloc);

private:
  bool isBefore(Operation *a, Operation *b) const {
    size_t left = places.lookup(a), right = places.lookup(b);
    return left != right ? left < right : a != b && a->isBeforeInBlock(b);
  }

  /// The original position of each op. A moved op has the position of the op
  /// that it was moved before.
  DenseMap<Operation *, size_t> places;
};

} // namespace

/// Limit of views to follow. Buffers usually have fewer views.
static constexpr size_t kMaxNames = 64;

void Sinker::sink(memref::AllocOp alloc) {
  Block *block = alloc->getBlock();
  llvm::SetVector<Operation *> names;
  names.insert(alloc);
  Operation *first = nullptr;
  for (size_t i = 0; i < names.size(); ++i)
    for (Operation *user : names[i]->getUsers()) {
      Operation *op = block->findAncestorOpInBlock(*user);
      if (op == user && op->getNumRegions() == 0 && isName(op))
        names.insert(op);
      else if (!first || isBefore(op, first))
        first = op;
      if (names.size() > kMaxNames)
        return;
    }
  if (!first)
    return;
  SmallVector<Operation *> moved;
  for (Operation *op : names)
    if (isBefore(op, first))
      moved.push_back(op);
  llvm::sort(moved, [&](Operation *a, Operation *b) { return isBefore(a, b); });
  for (Operation *op : moved) {
    op->moveBefore(first);
    places[op] = places.lookup(first);
  }
}

static void sinkBuffers(func::FuncOp function) {
  function.walk([](Block *block) {
    Sinker sinker(*block);
    auto allocs = llvm::to_vector(block->getOps<memref::AllocOp>());
    for (memref::AllocOp alloc : llvm::reverse(allocs))
      if (!isInArena(alloc))
        sinker.sink(alloc);
  });
}

/// Returns the lifetime of a buffer: from the first access to the last.
static ArenaBuffer lifetimeOf(memref::AllocOp alloc,
                              const AccessPositions &places,
                              BufferViewFlowAnalysis &aliases) {
  ArenaBuffer buffer;
  buffer.bytes = byteSize(alloc);
  // Ignores views, because memory is needed only from the first access on.
  int64_t first = std::numeric_limits<int64_t>::max(), last = -1;
  for (Operation *user : usersOf(alloc, aliases)) {
    if (isName(user))
      continue;
    auto [from, to] = placeOf(user, alloc, places);
    first = std::min(first, from);
    last = std::max(last, to);
  }
  if (last < 0)
    first = last = placeOf(alloc, alloc, places).first;
  buffer.first = first;
  buffer.last = last;
  return buffer;
}

LogicalResult PlanMemoryPass::plan(func::FuncOp function, Value arena) {
  Block &body = function.getBody().front();
  sinkBuffers(function);
  SmallVector<memref::AllocOp> fixed;
  function.walk([&](memref::AllocOp alloc) {
    if (isInArena(alloc))
      fixed.push_back(alloc);
  });
  BufferViewFlowAnalysis aliases(function);
  AccessPositions places;
  numberOps(body, 0, places);
  SmallVector<ArenaBuffer> buffers;
  for (memref::AllocOp alloc : fixed)
    buffers.push_back(lifetimeOf(alloc, places, aliases));
  if (failed(releaseBuffers(function, aliases)))
    return failure();

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
                                        alloc.getDynamicSizes());
    alloc.replaceAllUsesWith(view);
    alloc.erase();
    rows.push_back(SlotAttr::get(&getContext(), buffer.offset, buffer.bytes,
                                 buffer.first, buffer.last));
  }
  ModuleOp module = getOperation();
  // Uses the maximum of all bodies, which share the arena, because a run
  // executes one body.
  auto raise = [&](auto helper, int64_t bytes) {
    IntegerAttr known = helper.getAttr(module);
    if (!known || known.getInt() < bytes)
      helper.setAttr(module, attrs.getI64IntegerAttr(bytes));
  };
  raise(IngotDialect::ArenaBytesAttrHelper(&getContext()), arenaBytes);
  raise(IngotDialect::ArenaLowerBoundAttrHelper(&getContext()),
        lowerBound(buffers));
  if (!usualOf(function))
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
