//===- CountZeroWeights.cpp - nn-count-zero-weights -----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/ingot/Metadata.h"
#include "passes/graph/Passes.h"
#include "passes/graph/prune/ProductWeights.h"

#include "mlir/IR/Remarks.h"

namespace ingot {
#define GEN_PASS_DEF_COUNTZEROWEIGHTS
#include "passes/graph/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

namespace {
struct CountZeroWeightsPass
    : ingot::impl::CountZeroWeightsBase<CountZeroWeightsPass> {
  void runOnOperation() override;
};
} // namespace

/// Returns true if at least one weight in a hundred is zero, so that a remark
/// is useful.
static bool areMany(int64_t zeros, int64_t weights) {
  return zeros > 0 && zeros >= weights / 100;
}

void CountZeroWeightsPass::runOnOperation() {
  int64_t weights = 0, zeros = 0;
  llvm::DenseMap<Attribute, int64_t> counted;
  getOperation().walk([&](Operation *op) {
    auto product = graph::ProductWeights::of(op);
    if (!product)
      return;
    auto [at, isNew] = counted.try_emplace(product->getAttr(), 0);
    if (isNew) {
      at->second = product->countZeros();
      weights += product->count();
      zeros += at->second;
    }
    if (areMany(at->second, product->count()))
      remark::analysis(op->getLoc(),
                       remark::RemarkOpts::name("weights").category("zeros"))
          << remark::reason("{0} of its {1} weights are zero", at->second,
                            product->count());
  });
  numZeros += zeros;
  if (!areMany(zeros, weights))
    return;
  setCount(getOperation(), Count::weights, weights);
  setCount(getOperation(), Count::zero_weights, zeros);
}
