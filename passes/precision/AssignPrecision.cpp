//===- AssignPrecision.cpp - nn-assign-precision --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/NNDialect.h"
#include "passes/precision/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot {
#define GEN_PASS_DEF_ASSIGNPRECISION
#include "passes/precision/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

namespace {

struct AssignPrecisionPass
    : ingot::impl::AssignPrecisionBase<AssignPrecisionPass> {
  void runOnOperation() override {
    auto bf16 = StringAttr::get(&getContext(), "bf16");
    getOperation()->walk([&](Operation *op) {
      if (!isa<nn::ConvOp, nn::MatMulOp>(op) || op->hasAttr("ingot.precision"))
        return;
      auto type = cast<ShapedType>(op->getResult(0).getType());
      if (type.getElementType().isF32())
        op->setAttr("ingot.precision", bf16);
    });
  }
};

} // namespace
