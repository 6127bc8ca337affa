//===- Evaluate.cpp - computing ops on constants --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Evaluate.h"

#include "dialects/nn/Constants.h"
#include "dialects/nn/NNDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace ingot;

ElementsAttr nn::evaluate(Operation *op, int64_t maxElements) { return {}; }

bool nn::foldInPlace(Operation *op, int64_t maxElements) {
  if (op->getNumResults() != 1 || !isMemoryEffectFree(op) ||
      op->hasTrait<OpTrait::ConstantLike>())
    return false;
  OpBuilder builder(op);
  Value replacement;
  if (ElementsAttr attr = evaluate(op, maxElements)) {
    replacement = arith::ConstantOp::create(builder, op->getLoc(),
                                            cast<TypedAttr>(attr));
  } else {
    SmallVector<Value> folded;
    if (failed(builder.tryFold(op, folded)) || folded.size() != 1)
      return false;
    replacement = folded.front();
  }
  op->getResult(0).replaceAllUsesWith(replacement);
  op->erase();
  return true;
}
