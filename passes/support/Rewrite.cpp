//===- Rewrite.cpp - greedy rewriting that comes to an end ----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/support/Rewrite.h"

using namespace mlir;
using namespace ingot;

/// The driver walks all of the root again until a walk changes nothing; two or
/// three are usual.
static constexpr int64_t kMaxWalks = 16;

int64_t ingot::rewriteBudget(int64_t numOps) {
  constexpr int64_t kRewritesPerOp = 64, kAlways = 4096;
  return kAlways + kRewritesPerOp * numOps;
}

LogicalResult ingot::reportEndless(Operation *root, StringRef pass) {
  return emitError(root->getLoc())
         << "pass '" << pass
         << "' does not come to an end on this model: this is a defect of "
            "ingot; please report it with the model, or with what "
            "'ingot compile --emit=mlir-onnx' prints for it";
}

LogicalResult ingot::rewriteGreedily(Operation *root,
                                     const FrozenRewritePatternSet &patterns,
                                     StringRef pass,
                                     GreedyRewriteConfig config) {
  int64_t numOps = 0;
  bool hasBranches = false;
  root->walk([&](Operation *op) {
    ++numOps;
    for (Region &region : op->getRegions())
      hasBranches |= !region.empty() && !region.hasOneBlock();
  });
  // Blocks that nothing reaches, or that are the same: there is one. Looking
  // for them takes as long as the rewriting does.
  if (!hasBranches)
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  config.setMaxIterations(kMaxWalks).setMaxNumRewrites(rewriteBudget(numOps) /
                                                       kMaxWalks);
  if (succeeded(applyPatternsGreedily(root, patterns, config)))
    return success();
  return reportEndless(root, pass);
}
