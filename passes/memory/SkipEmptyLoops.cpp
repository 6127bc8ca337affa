//===- SkipEmptyLoops.cpp - ingot-skip-empty-loops ------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/ingot/IngotDialect.h"
#include "passes/memory/Passes.h"
#include "passes/memory/WrittenBuffers.h"
#include "passes/support/SkippedBuffers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace ingot {
#define GEN_PASS_DEF_SKIPEMPTYLOOPS
#include "passes/memory/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

namespace {
struct SkipEmptyLoopsPass
    : ingot::impl::SkipEmptyLoopsBase<SkipEmptyLoopsPass> {
  void runOnOperation() override;
};
} // namespace

void SkipEmptyLoopsPass::runOnOperation() {
  getOperation()->walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
    std::optional<llvm::SetVector<Value>> targets = writtenBuffersOf(loop);
    if (!targets || targets->empty() || !llvm::all_of(*targets, canBeEmpty))
      return WalkResult::advance();
    // Add a condition to nests of loops only. An innermost loop takes one step
    // per element, so it takes no step for an empty buffer. It needs the
    // condition if its buffer was made empty because no op reads it.
    bool isNest = loop.getBody()
                      ->walk([](Operation *op) {
                        return op->getNumRegions() != 0
                                   ? WalkResult::interrupt()
                                   : WalkResult::advance();
                      })
                      .wasInterrupted();
    if (!isNest && llvm::none_of(*targets, skippedWhen))
      return WalkResult::advance();
    OpBuilder builder(loop);
    Location loc = loop.getLoc();
    Value skips;
    for (Value target : *targets) {
      Value empty = isEmpty(builder, loc, target);
      skips = skips ? arith::AndIOp::create(builder, loc, skips, empty) : empty;
    }
    loop.setUpperBound(arith::SelectOp::create(
        builder, loc, skips, loop.getLowerBound(), loop.getUpperBound()));
    ++numSkipped;
    return WalkResult::skip();
  });
}
