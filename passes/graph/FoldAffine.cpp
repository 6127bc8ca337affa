//===- FoldAffine.cpp - nn-fold-affine ------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/graph/Passes.h"
#include "passes/graph/Affine.h"
#include "passes/support/Rewrite.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace ingot {
#define GEN_PASS_DEF_FOLDAFFINE
#include "passes/graph/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::graph;

namespace {

struct FoldAffinePass : ingot::impl::FoldAffineBase<FoldAffinePass> {
  using FoldAffineBase::FoldAffineBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FoldIntoProducer<nn::AddOp>, FoldIntoProducer<nn::SubOp>,
                 FoldIntoProducer<nn::MulOp>, FoldIntoProducer<nn::DivOp>>(
        &getContext(), numFolded);
    if (failed(rewriteGreedily(getOperation(), std::move(patterns),
                               getArgument())))
      signalPassFailure();
  }
};

} // namespace
