//===- LowerControlFlow.cpp - lower-control-flow --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/llvm/Passes.h"

#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"
#include "mlir/Rewrite/PatternApplicator.h"

namespace ingot {
#define GEN_PASS_DEF_LOWERCONTROLFLOW
#include "passes/llvm/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

namespace {
struct LowerControlFlowPass
    : ingot::impl::LowerControlFlowBase<LowerControlFlowPass> {
  using LowerControlFlowBase::LowerControlFlowBase;

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    populateSCFToControlFlowConversionPatterns(set);
    patterns = std::move(set);
    return success();
  }

  void runOnOperation() override {
    PatternApplicator applicator(patterns);
    applicator.applyDefaultCostModel();
    PatternRewriter rewriter(&getContext());
    // Repeats the lowering, because some ops lower to other scf ops, e.g. a
    // parallel loop to serial loops. After a few rounds no scf op remains.
    for (;;) {
      SmallVector<Operation *> found;
      getOperation()->walk([&](Operation *op) {
        if (isa_and_nonnull<scf::SCFDialect>(op->getDialect()) &&
            !op->hasTrait<OpTrait::IsTerminator>())
          found.push_back(op);
      });
      if (found.empty())
        return;
      // Lowers in reverse order, because each op moves the ops behind it into a
      // new block. In forward order each op would move the rest of the block.
      for (Operation *op : llvm::reverse(found)) {
        rewriter.setInsertionPoint(op);
        if (failed(applicator.matchAndRewrite(op, rewriter))) {
          op->emitError("cannot be lowered to branches");
          return signalPassFailure();
        }
      }
    }
  }

  FrozenRewritePatternSet patterns;
};
} // namespace
