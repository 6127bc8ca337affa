//===- CheckIndices.cpp - nn-check-indices --------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/shape/Passes.h"

#include "dialects/nn/Elements.h"
#include "dialects/nn/NNDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/TypeSwitch.h"

namespace ingot {
#define GEN_PASS_DEF_CHECKINDICES
#include "passes/shape/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

namespace {

struct CheckIndicesPass : ingot::impl::CheckIndicesBase<CheckIndicesPass> {
  void runOnOperation() override;
};

/// Indices, and the sizes of the dimensions of the data that they index. Tuples
/// of indices have one size per element of a tuple.
struct Indexing {
  Value indices;
  SmallVector<int64_t> sizes;
};

} // namespace

static Indexing indexingOf(Operation *op) {
  auto along = [](auto op) -> Indexing {
    return {op.getIndices(), {op.getX().getType().getDimSize(op.getAxis())}};
  };
  auto tuples = [](auto op, int64_t first) -> Indexing {
    int64_t count = op.getIndices().getType().getShape().back();
    return {
        op.getIndices(),
        llvm::to_vector(op.getX().getType().getShape().slice(first, count))};
  };
  return llvm::TypeSwitch<Operation *, Indexing>(op)
      .Case<nn::GatherOp, nn::GatherElementsOp, nn::ScatterElementsOp>(
          [&](auto op) { return along(op); })
      .Case([&](nn::GatherNDOp op) { return tuples(op, op.getBatchDims()); })
      .Case([&](nn::ScatterNDOp op) { return tuples(op, 0); })
      .Default([](Operation *) { return Indexing(); });
}

static LogicalResult checkIndices(Operation *op) {
  Indexing indexing = indexingOf(op);
  if (!indexing.indices || indexing.sizes.empty())
    return success();
  SmallVector<nn::Range> ranges;
  for (int64_t size : indexing.sizes)
    ranges.push_back(nn::positionsOf(size));
  auto bad = nn::findOutside(indexing.indices, ranges);
  if (!bad)
    return success();
  const nn::Range &range = ranges[bad->number % ranges.size()];
  return emitError(op->getLoc())
         << nn::describeElement("indices", bad->place, Twine(bad->value))
         << ", but must be " << nn::describeRange(range);
}

void CheckIndicesPass::runOnOperation() {
  llvm::DenseSet<Location> refused;
  getOperation()->walk([&](Operation *op) {
    if (!refused.contains(op->getLoc()) && failed(checkIndices(op)))
      refused.insert(op->getLoc());
  });
  if (!refused.empty())
    signalPassFailure();
}
