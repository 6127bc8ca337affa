//===- Rewrite.cpp - bounded greedy rewriting -----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/support/Rewrite.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

using namespace mlir;
using namespace ingot;

/// Limit of walks. The driver walks the root again until a walk changes
/// nothing; two or three walks are usual.
static constexpr int64_t kMaxWalks = 16;

int64_t ingot::rewriteBudget(int64_t numOps) {
  constexpr int64_t kRewritesPerOp = 64, kAlways = 4096;
  return kAlways + kRewritesPerOp * numOps;
}

LogicalResult ingot::reportEndless(Operation *root, StringRef pass) {
  return emitError(root->getLoc())
         << "pass '" << pass
         << "' does not come to an end on this model: this is a defect of "
            "ingot. Please report it with the model, or with the output of "
            "'ingot compile --emit=mlir-onnx'";
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
  // Region simplification looks for unreachable or equal blocks. With one block
  // per region it is useless, and it takes as long as the rewriting.
  if (!hasBranches)
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  config.setMaxIterations(kMaxWalks).setMaxNumRewrites(rewriteBudget(numOps) /
                                                       kMaxWalks);
  if (succeeded(applyPatternsGreedily(root, patterns, config)))
    return success();
  return reportEndless(root, pass);
}

LogicalResult ingot::rewriteOps(ArrayRef<Operation *> ops,
                                const FrozenRewritePatternSet &patterns,
                                StringRef pass) {
  if (ops.empty())
    return success();
  Operation *first = ops.front();
  GreedyRewriteConfig config;
  config.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps)
      .setMaxNumRewrites(rewriteBudget(int64_t(ops.size())));
  Operation *root = first->getParentOfType<ModuleOp>();
  if (succeeded(applyOpPatternsGreedily(ops, patterns, config)))
    return success();
  return reportEndless(root ? root : first, pass);
}

namespace {

/// Asserts that ops of functions and loops are erased in order, which holds if
/// patterns erase only ops that they matched.
struct ErasureCheck : RewriterBase::Listener {
  explicit ErasureCheck(Operation *root) {
    root->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op->getParentOp() &&
          isa<FunctionOpInterface, LoopLikeOpInterface>(op->getParentOp()))
        places[op] = int64_t(places.size());
    });
  }
  void notifyOperationErased(Operation *op) override {
    auto place = places.find(op);
    if (place == places.end())
      return;
    assert(place->second >= last &&
           "a pattern erases an op that the walk may come to");
    last = place->second;
    places.erase(place);
  }

  llvm::DenseMap<Operation *, int64_t> places;
  int64_t last = 0;
};

} // namespace

void ingot::rewriteInOneWalk(Operation *root,
                             const FrozenRewritePatternSet &patterns) {
  RewriterBase::Listener *listener = nullptr;
#ifndef NDEBUG
  ErasureCheck check(root);
  listener = &check;
#endif
  walkAndApplyPatterns(root, patterns, listener);
}
