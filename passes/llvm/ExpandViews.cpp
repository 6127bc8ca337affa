//===- ExpandViews.cpp - expand-views -------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/llvm/Passes.h"
#include "passes/support/Rewrite.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"

namespace ingot {
#define GEN_PASS_DEF_EXPANDVIEWS
#include "passes/llvm/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

namespace {

struct ExpandViewsPass : ingot::impl::ExpandViewsBase<ExpandViewsPass> {
  void runOnOperation() override {
    SmallVector<Operation *> views;
    getOperation()->walk([&](Operation *op) {
      if (isa<memref::MemRefDialect>(op->getDialect()) &&
          !isa<memref::LoadOp, memref::StoreOp>(op))
        views.push_back(op);
    });
    RewritePatternSet patterns(&getContext());
    memref::populateExpandStridedMetadataPatterns(patterns);
    if (failed(rewriteOps(views, std::move(patterns), getArgument())))
      signalPassFailure();
  }
};

} // namespace
