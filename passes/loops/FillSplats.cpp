//===- FillSplats.cpp - linalg-fill-splats --------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/kernel/KernelInterfaces.h"
#include "dialects/nn/Constants.h"
#include "passes/loops/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace ingot {
#define GEN_PASS_DEF_FILLSPLATS
#include "passes/loops/Passes.h.inc"
} // namespace ingot

using namespace mlir;

namespace {

struct FillSplatsPass
    : ingot::impl::FillSplatsBase<FillSplatsPass> {
  using FillSplatsBase::FillSplatsBase;
  void runOnOperation() override;
};

} // namespace

void FillSplatsPass::runOnOperation() {
  SmallVector<arith::ConstantOp> splats;
  getOperation()->walk([&](arith::ConstantOp op) {
    auto value = dyn_cast<DenseElementsAttr>(op.getValue());
    if (value && value.isSplat() && value.getElementType().isIntOrFloat() &&
        value.getNumElements() *
                ingot::nn::elementBytes(value.getElementType()) >
            minBytes &&
        !ingot::kernel::mustBeStored(op))
      splats.push_back(op);
  });
  for (arith::ConstantOp op : splats) {
    OpBuilder builder(op);
    auto type = cast<RankedTensorType>(op.getType());
    auto value = cast<DenseElementsAttr>(op.getValue());
    Value one = arith::ConstantOp::create(builder, op.getLoc(),
                                          value.getSplatValue<TypedAttr>());
    // Make a buffer for each use, since a use may write in place.
    for (OpOperand &use : llvm::make_early_inc_range(op->getUses())) {
      builder.setInsertionPoint(use.getOwner());
      Value empty = tensor::EmptyOp::create(
          builder, op.getLoc(), type.getShape(), type.getElementType());
      use.set(linalg::FillOp::create(builder, op.getLoc(), one, empty)
                  .getResult(0));
    }
    op.erase();
    ++filled;
  }
}
