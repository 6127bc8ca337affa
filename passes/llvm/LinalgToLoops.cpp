//===- LinalgToLoops.cpp - linalg-to-loops --------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/llvm/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/PassManager.h"

namespace ingot {
#define GEN_PASS_DEF_LINALGTOLOOPS
#include "passes/llvm/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

namespace {

struct LinalgToLoopsPass : ingot::impl::LinalgToLoopsBase<LinalgToLoopsPass> {
  void runOnOperation() override {
    const WalkResult found = getOperation().walk(
        [](linalg::LinalgOp) { return WalkResult::interrupt(); });
    if (!found.wasInterrupted())
      return;
    OpPassManager upstream(func::FuncOp::getOperationName());
    upstream.addPass(createConvertLinalgToLoopsPass());
    if (failed(runPipeline(upstream, getOperation())))
      signalPassFailure();
  }
};

} // namespace
