//===- SplitProducts.cpp - cuda-split-products ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/Passes.h"
#include "passes/cuda/schedule/ChooseSchedule.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace ingot {
#define GEN_PASS_DEF_SPLITPRODUCTS
#include "passes/cuda/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

namespace {

struct SplitProductsPass : ingot::impl::SplitProductsBase<SplitProductsPass> {
  using SplitProductsBase::SplitProductsBase;
  void runOnOperation() override;
};

} // namespace

/// Lets `op` compute parts, whose sum gets its epilogue.
template <typename Op>
static void split(Op op, int64_t parts) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getDst().getType());
  Type f32 = b.getF32Type();
  SmallVector<int64_t> shape{parts};
  llvm::append_range(shape, type.getShape());
  Value dst = tensor::EmptyOp::create(b, loc, shape, f32);
  auto product = cast<Op>(op->clone());
  product.getEpilogueOperandsMutable().clear();
  product.getDstMutable().assign(dst);
  product.getResult().setType(cast<RankedTensorType>(dst.getType()));
  product.setParts(parts);
  product.getEpilogue().getBlocks().clear();
  b.insert(product);
  {
    OpBuilder::InsertionGuard guard(b);
    Block *body = b.createBlock(&product.getEpilogue());
    YieldOp::create(b, loc, ValueRange{body->addArgument(f32, loc)});
  }
  auto sum = SumPartsOp::create(b, loc, type, product.getResult(),
                                op.getEpilogueOperands(), op.getDst());
  sum.getEpilogue().takeBody(op.getEpilogue());
  op->replaceAllUsesWith(sum);
  op->erase();
}

void SplitProductsPass::runOnOperation() {
  uint64_t number = 0;
  getOperation().walk([&](Operation *op) {
    if (!isa<ConvOp, MatMulOp>(op) || op->getNumResults() == 0)
      return;
    Product product(cast<kernel::EpilogueOpInterface>(op));
    // The workspace of the parts has a known size.
    if (product.parts > 1 || product.hasOpenSizes())
      return;
    const int64_t parts = seed == 0 ? chooseParts(product).count
                                    : drawParts(product, seed + ++number);
    if (parts == 1)
      return;
    ++numSplit;
    if (auto conv = dyn_cast<ConvOp>(op))
      split(conv, parts);
    else
      split(cast<MatMulOp>(op), parts);
  });
}
