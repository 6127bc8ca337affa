//===- RelaxReductions.cpp - linalg-relax-reductions ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/loops/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace ingot {
#define GEN_PASS_DEF_RELAXREDUCTIONS
#include "passes/loops/Passes.h.inc"
} // namespace ingot

using namespace mlir;

namespace {
struct RelaxReductionsPass
    : ingot::impl::RelaxReductionsBase<RelaxReductionsPass> {
  void runOnOperation() override {
    auto flags = arith::FastMathFlagsAttr::get(
        &getContext(),
        arith::FastMathFlags::reassoc | arith::FastMathFlags::contract);
    getOperation()->walk([&](linalg::GenericOp op) {
      if (op.getNumReductionLoops() == 0)
        return;
      op.getRegion().walk([&](Operation *inner) {
        if (isa<arith::AddFOp, arith::MulFOp>(inner))
          inner->setAttr("fastmath", flags);
      });
    });
  }
};
} // namespace
