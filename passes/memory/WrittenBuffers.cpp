//===- WrittenBuffers.cpp - buffers that ops write to ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/memory/WrittenBuffers.h"

#include "passes/memory/BufferSizes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;

/// Adds the buffer that `memref` is or is a view of, unless `op` allocates it.
/// Fails if the buffer is unknown.
static LogicalResult addTarget(Operation *op, Value memref,
                               llvm::SetVector<Value> &targets) {
  for (;;) {
    bool isInside = op->isAncestor(memref.getParentBlock()->getParentOp());
    Operation *made = memref.getDefiningOp();
    if (isInside && isa_and_nonnull<memref::AllocOp, memref::AllocaOp>(made))
      return success();
    auto view = dyn_cast_or_null<ViewLikeOpInterface>(made);
    if (!view && isInside)
      return failure();
    if (!view)
      break;
    memref = view.getViewSource();
  }
  targets.insert(memref);
  return success();
}

std::optional<llvm::SetVector<Value>> ingot::writtenBuffersOf(Operation *op) {
  if (op->getNumResults() != 0)
    return std::nullopt;
  llvm::SetVector<Value> targets;
  WalkResult walked = op->walk([&](Operation *inner) {
    bool hasInner = inner->hasTrait<OpTrait::HasRecursiveMemoryEffects>();
    auto own = dyn_cast<MemoryEffectOpInterface>(inner);
    if (!own)
      return hasInner || isMemoryEffectFree(inner) ? WalkResult::advance()
                                                   : WalkResult::interrupt();
    SmallVector<MemoryEffects::EffectInstance> effects;
    own.getEffects(effects);
    for (const MemoryEffects::EffectInstance &effect : effects) {
      if (isa<MemoryEffects::Read, MemoryEffects::Allocate,
              MemoryEffects::Free>(effect.getEffect()))
        continue;
      Value memref = effect.getValue();
      if (!memref || !isa<MemRefType>(memref.getType()) ||
          failed(addTarget(op, memref, targets)))
        return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  if (walked.wasInterrupted())
    return std::nullopt;
  return targets;
}

bool ingot::canBeEmpty(Value memref) {
  auto type = dyn_cast<MemRefType>(memref.getType());
  return type && !type.hasStaticShape();
}

Value ingot::isEmpty(OpBuilder &builder, Location loc, Value memref) {
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
