//===- FoldScaleShift.cpp - nn-fold-scale-shift ---------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/graph/Passes.h"
#include "passes/support/Rewrite.h"
#include "passes/support/ScaleShift.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace ingot {
#define GEN_PASS_DEF_FOLDSCALESHIFT
#include "passes/graph/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::support;

namespace {

struct FoldScaleShiftPass
    : ingot::impl::FoldScaleShiftBase<FoldScaleShiftPass> {
  using FoldScaleShiftBase::FoldScaleShiftBase;

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
