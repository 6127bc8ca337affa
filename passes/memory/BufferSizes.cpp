//===- BufferSizes.cpp - sizes of buffers and of views --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/memory/BufferSizes.h"

#include "dialects/ingot/IngotDialect.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

SmallVector<OpFoldResult> ingot::sizesOfBuffer(Value memref) {
  return llvm::TypeSwitch<Operation *, SmallVector<OpFoldResult>>(
             memref.getDefiningOp())
      .Case<memref::AllocOp, memref::ReinterpretCastOp, RoomOp>(
          [](auto op) { return op.getMixedSizes(); })
      .Case([](memref::ExpandShapeOp op) { return op.getMixedOutputShape(); })
      .Case([](memref::SubViewOp op) {
        return op.getDroppedDims().none() ? op.getMixedSizes()
                                          : SmallVector<OpFoldResult>();
      })
      .Case([](memref::ViewOp op) {
        Builder builder(op.getContext());
        return getMixedValues(op.getType().getShape(), op.getSizes(), builder);
      })
      .Default([](Operation *) { return SmallVector<OpFoldResult>(); });
}
