//===- ApproximateMath.cpp - approximate-math -----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace ingot {
#define GEN_PASS_DEF_APPROXIMATEMATH
#include "passes/Passes.h.inc"
} // namespace ingot

using namespace mlir;

namespace {
struct ApproximateMathPass
    : ingot::impl::ApproximateMathBase<ApproximateMathPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    // What loops over tensors spend their time in; polynomials vectorize, calls
    // to libm do not. The rest is rare and stays a call.
    auto isFrequent = [](StringRef name) {
      return llvm::is_contained({"math.exp", "math.log", "math.log1p",
                                 "math.erf", "math.tanh"},
                                name);
    };
    populateMathPolynomialApproximationPatterns(patterns, isFrequent);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
