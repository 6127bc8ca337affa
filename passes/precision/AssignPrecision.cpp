//===- AssignPrecision.cpp - nn-assign-precision --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/ingot/IngotDialect.h"
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
    IngotDialect::PrecisionAttrHelper precision(&getContext());
    auto bf16 = PrecisionAttr::get(&getContext(), Precision::bf16);
    getOperation()->walk([&](Operation *op) {
      if (!isa<nn::ConvOp, nn::MatMulOp>(op) || precision.isAttrPresent(op))
        return;
      auto type = cast<ShapedType>(op->getResult(0).getType());
      if (type.getElementType().isF32())
        precision.setAttr(op, bf16);
    });
  }
};

} // namespace
