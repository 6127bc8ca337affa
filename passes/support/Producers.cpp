//===- Producers.cpp - fusion into producers ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/support/Producers.h"

#include "passes/support/Tensors.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::support;

support::Order::Order(Operation *root) {
  root->walk<WalkOrder::PreOrder>(
      [&](Operation *op) { places[op] = places.size(); });
}

/// Returns the place of an op. A new op without a place gets the place of the
/// next op that has one.
int64_t support::Order::placeOf(Operation *op) const {
  for (; op; op = op->getNextNode())
    if (auto at = places.find(op); at != places.end())
      return at->second;
  return std::numeric_limits<int64_t>::max();
}

void support::Order::replaceByProducer(Operation *producer, Operation *op) {
  producer->setLoc(
      FusedLoc::get(op->getContext(), {producer->getLoc(), op->getLoc()}));
  // Other operands of `op` may be defined between `producer` and `op`.
  producer->moveBefore(op);
  places[producer] = placeOf(op);
  op->getResult(0).replaceAllUsesWith(producer->getResult(0));
  erase(op);
}

void support::Order::erase(Operation *op) {
  places.erase(op);
  op->erase();
}

Value support::expandRank(OpBuilder &builder, Value value, int64_t rank) {
  int64_t missing = rank - support::typeOf(value).getRank();
  if (missing == 0)
    return value;
  SmallVector<OpFoldResult> sizes(missing, builder.getIndexAttr(1));
  llvm::append_range(sizes,
                     tensor::getMixedSizes(builder, value.getLoc(), value));
  return support::reshape(builder, value.getLoc(), value, sizes);
}
