//===- DropBroadcasts.cpp - nn-drop-broadcasts ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/NNDialect.h"
#include "dialects/nn/TensorTypes.h"
#include "passes/shape/Passes.h"
#include "passes/shape/SameSizes.h"

namespace ingot {
#define GEN_PASS_DEF_DROPBROADCASTS
#include "passes/shape/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using nn::typeOf;

/// Returns true if dimension `dim` of two values, counted from the last, has
/// the same size.
static bool isSame(const shape::SameSizes &sizes, Value a, Value b,
                   int64_t dim) {
  int64_t inA = typeOf(a).getRank() - dim, inB = typeOf(b).getRank() - dim;
  return inA >= 0 && inB >= 0 && sizes.isSame(a, inA, b, inB);
}

/// Returns true if the op can broadcast the operand of `broadcast` itself. Each
/// size of the result must then be the size of this operand or of another
/// operand.
static bool repeatsItself(Operation *op, nn::BroadcastToOp broadcast,
                          const shape::SameSizes &sizes) {
  for (int64_t dim = 1; dim <= broadcast.getType().getRank(); ++dim)
    if (!isSame(sizes, broadcast.getX(), broadcast, dim) &&
        llvm::none_of(op->getOperands(), [&](Value other) {
          return other != broadcast && isSame(sizes, other, broadcast, dim);
        }))
      return false;
  return true;
}

namespace {
struct DropBroadcastsPass
    : ingot::impl::DropBroadcastsBase<DropBroadcastsPass> {
  void runOnOperation() override {
    SmallVector<OpOperand *> repeated;
    getOperation()->walk([&](nn::BroadcastToOp broadcast) {
      for (OpOperand &use : broadcast->getUses())
        if (isa<nn::ElementwiseOpInterface>(use.getOwner()))
          repeated.push_back(&use);
    });
    if (repeated.empty())
      return;
    shape::SameSizes sizes(getOperation());
    for (OpOperand *use : repeated) {
      auto broadcast = use->get().getDefiningOp<nn::BroadcastToOp>();
      if (!repeatsItself(use->getOwner(), broadcast, sizes))
        continue;
      use->set(broadcast.getX());
      if (broadcast->use_empty()) {
        sizes.forget(broadcast);
        broadcast->erase();
      }
    }
  }
};
} // namespace
