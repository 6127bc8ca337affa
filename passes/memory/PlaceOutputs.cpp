//===- PlaceOutputs.cpp - ingot-place-outputs -----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/ingot/IngotDialect.h"
#include "passes/memory/Passes.h"
#include "passes/support/StoreOutputCall.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

namespace ingot {
#define GEN_PASS_DEF_PLACEOUTPUTS
#include "passes/memory/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

/// Returns the memref of which `view` shows all elements in order; null if
/// there is none.
static Value wholeOf(Operation *view) {
  return llvm::TypeSwitch<Operation *, Value>(view)
      .Case<memref::CastOp, memref::CollapseShapeOp, memref::ExpandShapeOp>(
          [](auto op) { return op->getOperand(0); })
      // The form that ingot-bufferize gives to an expand_shape.
      .Case([](memref::ReinterpretCastOp op) {
        return isConstantIntValue(op.getMixedOffsets().front(), 0)
                   ? op.getSource()
                   : Value();
      })
      .Default([](Operation *) { return Value(); });
}

static bool isView(Operation *op) {
  return llvm::any_of(op->getResultTypes(), llvm::IsaPred<BaseMemRefType>);
}

/// Returns true if `op` only reads `buffer`, so that it may follow the call
/// that passes the buffer to the host.
static bool onlyReads(Operation *op, Value buffer) {
  if (isa<memref::DimOp, memref::ExtractAlignedPointerAsIndexOp>(op))
    return true;
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  if (!effects)
    return false;
  SmallVector<MemoryEffects::EffectInstance> found;
  effects.getEffects(found);
  return llvm::all_of(found, [&](const MemoryEffects::EffectInstance &effect) {
    return effect.getValue()
               ? effect.getValue() != buffer ||
                     isa<MemoryEffects::Read>(effect.getEffect())
               : effect.getResource() != SideEffects::DefaultResource::get();
  });
}

/// Returns true if memory of the host may replace `buffer`. `store` passes the
/// elements of `buffer` to the host. No branch or loop may pass the buffer on,
/// and all writes must come before `store`.
static bool isDoneBy(Value buffer, Operation *store) {
  return llvm::all_of(buffer.getUsers(), [&](Operation *user) {
    if (user->hasTrait<OpTrait::IsTerminator>() ||
        isa<RegionBranchOpInterface>(user))
      return false;
    if (isView(user))
      return isa<ViewLikeOpInterface>(user) && user->getNumResults() == 1 &&
             isDoneBy(user->getResult(0), store);
    Operation *place = store->getBlock()->findAncestorOpInBlock(*user);
    return place && (place->isBeforeInBlock(store) || onlyReads(user, buffer));
  });
}

/// Returns the buffer that `store` passes completely to the host, or null.
static memref::AllocOp findBuffer(StoreOutputCall store) {
  auto address =
      store.getOperands()
          .data.getDefiningOp<memref::ExtractAlignedPointerAsIndexOp>();
  Value buffer = address ? address.getSource() : Value();
  while (Operation *op = buffer ? buffer.getDefiningOp() : nullptr) {
    if (auto alloc = dyn_cast<memref::AllocOp>(op))
      return alloc->getBlock() == store.getOp()->getBlock() ? alloc
                                                            : memref::AllocOp();
    buffer = wholeOf(op);
  }
  return {};
}

namespace {
struct PlaceOutputsPass : ingot::impl::PlaceOutputsBase<PlaceOutputsPass> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    SmallVector<StoreOutputCall> stores;
    for (Operation &op : getOperation().getBody().front())
      if (auto store = StoreOutputCall::find(&op);
          store && !store.isOfStrings())
        stores.push_back(store);
    for (StoreOutputCall store : stores) {
      memref::AllocOp alloc = findBuffer(store);
      std::optional<int64_t> number =
          getConstantIntValue(store.getOperands().number);
      if (!alloc || !number || !alloc.getType().getLayout().isIdentity() ||
          !isDoneBy(alloc, store.getOp()))
        continue;
      OpBuilder builder(alloc);
      Value room = RoomOp::create(builder, alloc.getLoc(), alloc.getType(),
                                  *number, alloc.getDynamicSizes());
      alloc.replaceAllUsesWith(room);
      alloc.erase();
      ++numPlaced;
    }
  }
};
} // namespace
