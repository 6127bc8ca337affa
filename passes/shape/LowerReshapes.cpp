//===- LowerReshapes.cpp - nn-lower-reshapes ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lowers tensor.reshape to tensor.collapse_shape and tensor.expand_shape.
// Upstream's patterns fuse ops past these, but not past other reshapes.
//
//===----------------------------------------------------------------------===//
#include "passes/shape/Passes.h"
#include "passes/shape/SplitReshape.h"
#include "passes/support/Tensors.h"

namespace ingot {
#define GEN_PASS_DEF_LOWERRESHAPES
#include "passes/shape/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

namespace {
struct LowerReshapesPass : ingot::impl::LowerReshapesBase<LowerReshapesPass> {
  void runOnOperation() override {
    SmallVector<tensor::ReshapeOp> ops;
    getOperation()->walk([&](tensor::ReshapeOp op) {
      if (op.getShape().getDefiningOp<tensor::FromElementsOp>() &&
          isa<RankedTensorType>(op.getSource().getType()) &&
          isa<RankedTensorType>(op.getType()))
        ops.push_back(op);
    });
    if (ops.empty())
      return;
    shape::SameSizes sizes(getOperation());
    for (tensor::ReshapeOp op : ops)
      rewrite(op, sizes);
  }

  void rewrite(tensor::ReshapeOp op, shape::SameSizes &sizes) {
    OpBuilder b(op);
    auto type = cast<RankedTensorType>(op.getType());
    auto list = op.getShape().getDefiningOp<tensor::FromElementsOp>();
    SmallVector<OpFoldResult> to(list.getElements());
    for (auto [size, known] : llvm::zip_equal(to, type.getShape()))
      if (!ShapedType::isDynamic(known))
        size = b.getIndexAttr(known);
    // Check that the products of sizes are equal. They may differ if the tensor
    // is empty, because the middle group has no proof of equal products.
    SmallVector<support::ReshapeGroup> groups = shape::splitReshape(sizes, op);
    bool areSame =
        llvm::all_of(groups, [&](const support::ReshapeGroup &group) {
          return sizes.isSameProduct(op.getSource(), group.from, op.getResult(),
                                     group.to);
        });
    if (!areSame)
      return;
    Value view =
        support::reshapeByGroups(b, op.getLoc(), op.getSource(), to, groups);
    if (!view)
      return;
    sizes.forget(op);
    op.replaceAllUsesWith(support::castTo(b, op.getLoc(), view, type));
    op.erase();
    ++numLowered;
  }
};
} // namespace
