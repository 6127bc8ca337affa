//===- SkipEmptyLoops.cpp - ingot-skip-empty-loops ------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/ingot/IngotDialect.h"
#include "passes/memory/BufferSizes.h"
#include "passes/memory/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/SetVector.h"

namespace ingot {
#define GEN_PASS_DEF_SKIPEMPTYLOOPS
#include "passes/memory/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

namespace {
struct SkipEmptyLoopsPass
    : ingot::impl::SkipEmptyLoopsBase<SkipEmptyLoopsPass> {
  void runOnOperation() override;
};
} // namespace

/// Adds the memref from outside of `loop` that `memref` is, or is a view of.
/// Fails where it is not plain to see.
static LogicalResult addTarget(scf::ForOp loop, Value memref,
                               llvm::SetVector<Value> &targets) {
  while (loop->isAncestor(memref.getParentBlock()->getParentOp())) {
    Operation *op = memref.getDefiningOp();
    if (isa_and_nonnull<memref::AllocOp, memref::AllocaOp>(op))
      return success();
    auto view = dyn_cast_or_null<ViewLikeOpInterface>(op);
    if (!view)
      return failure();
    memref = view.getViewSource();
  }
  targets.insert(memref);
  return success();
}

/// Returns the memrefs that a loop writes to, or nothing if it does more than
/// that, or if one of them surely has elements.
static std::optional<llvm::SetVector<Value>> targetsOf(scf::ForOp loop) {
  if (loop->getNumResults() != 0)
    return std::nullopt;
  llvm::SetVector<Value> targets;
  WalkResult walked = loop->walk([&](Operation *op) {
    bool hasInner = op->hasTrait<OpTrait::HasRecursiveMemoryEffects>();
    auto own = dyn_cast<MemoryEffectOpInterface>(op);
    if (!own)
      return hasInner || isMemoryEffectFree(op) ? WalkResult::advance()
                                                : WalkResult::interrupt();
    SmallVector<MemoryEffects::EffectInstance> effects;
    own.getEffects(effects);
    for (const MemoryEffects::EffectInstance &effect : effects) {
      if (isa<MemoryEffects::Read, MemoryEffects::Allocate,
              MemoryEffects::Free>(effect.getEffect()))
        continue;
      Value memref = effect.getValue();
      if (!memref || !isa<MemRefType>(memref.getType()) ||
          failed(addTarget(loop, memref, targets)))
        return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  bool canBeEmpty = llvm::all_of(targets, [](Value target) {
    return !cast<MemRefType>(target.getType()).hasStaticShape();
  });
  if (walked.wasInterrupted() || targets.empty() || !canBeEmpty)
    return std::nullopt;
  return targets;
}

/// Returns whether a memref has no elements in this run.
static Value isEmpty(OpBuilder &builder, Location loc, Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  SmallVector<OpFoldResult> sizes;
  if (memref.getDefiningOp())
    sizes = sizesOfBuffer(memref);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0), empty;
  for (int64_t d = 0; d < type.getRank(); ++d) {
    if (!type.isDynamicDim(d))
      continue;
    Value size = sizes.empty()
                     ? memref::DimOp::create(builder, loc, memref, d)
                     : getValueOrCreateConstantIndexOp(builder, loc, sizes[d]);
    Value isZero = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                         size, zero);
    empty = empty ? arith::OrIOp::create(builder, loc, empty, isZero) : isZero;
  }
  return empty;
}

void SkipEmptyLoopsPass::runOnOperation() {
  getOperation()->walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
    // A loop without another one in it takes a step for each element.
    bool isNest = loop.getBody()
                      ->walk([](Operation *op) {
                        return op->getNumRegions() != 0
                                   ? WalkResult::interrupt()
                                   : WalkResult::advance();
                      })
                      .wasInterrupted();
    std::optional<llvm::SetVector<Value>> targets;
    if (!isNest || !(targets = targetsOf(loop)))
      return WalkResult::advance();
    OpBuilder builder(loop);
    Location loc = loop.getLoc();
    Value skips;
    for (Value target : *targets) {
      Value empty = isEmpty(builder, loc, target);
      skips = skips ? arith::AndIOp::create(builder, loc, skips, empty) : empty;
    }
    loop.setUpperBound(arith::SelectOp::create(
        builder, loc, skips, loop.getLowerBound(), loop.getUpperBound()));
    ++numSkipped;
    return WalkResult::skip();
  });
}
