//===- FlattenKernels.cpp - cpu-flatten-kernels ---------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/PackedWeights.h"
#include "passes/cpu/lower/Passes.h"
#include "passes/cpu/policy/Thresholds.h"
#include "passes/kernel/Matrices.h"
#include "passes/support/Rewrite.h"
#include "passes/support/Tensors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace ingot {
#define GEN_PASS_DEF_FLATTENKERNELS
#include "passes/cpu/lower/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::support;
using support::typeOf;

/// Returns groups that join all dimensions but the last into rows. If the
/// dimensions behind the last dynamic one have many rows, the dimensions before
/// them stay a batch. The number of rows is then static, so that tiles have
/// known sizes. With few rows, reading all weights for each batch would cost
/// more.
static SmallVector<ReassociationIndices> rowsAndColumns(RankedTensorType type) {
  ArrayRef<int64_t> rows = type.getShape().drop_back();
  size_t batches = rows.size();
  while (batches > 0 && !ShapedType::isDynamic(rows[batches - 1]))
    --batches;
  if (support::productOf(rows.drop_front(batches)) < cpu::threshold::matrixRows)
    batches = 0;
  SmallVector<ReassociationIndices> groups;
  for (size_t i = 0; i <= rows.size(); ++i) {
    if (i == 0 || i == batches || i == rows.size())
      groups.emplace_back();
    groups.back().push_back(i);
  }
  return groups;
}

/// Returns true if no dimensions are left to join.
static bool isFlat(RankedTensorType type) {
  return rowsAndColumns(type).size() == size_t(type.getRank());
}

/// Replaces the op by a product of matrices; `weights` have rank 3.
template <typename Op>
static void replaceByMatMul(PatternRewriter &rewriter, Op op, Value weights) {
  kernel::replaceByMatrices(
      rewriter, op, op.getSrc(), rowsAndColumns(typeOf(op.getDst())),
      [&](Value src, ValueRange operands, Value dst) {
        return cpu::MatMulOp::create(
            rewriter, op->getLoc(), dst.getType(), src, weights,
            /*blocks=*/Value(), /*pairs=*/Value(), operands, dst,
            op.getFormat().withoutStatements(), op.getDstSignsAttr(),
            /*schedule=*/{});
      });
}

namespace {

struct PointwiseConv : OpRewritePattern<cpu::ConvOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(cpu::ConvOp op,
                                PatternRewriter &rewriter) const override {
    if (Reason reason = kernel::whyNotMatrices(op))
      return rewriter.notifyMatchFailure(op, *reason);
    if (Reason reason = kernel::whyNotReshaped(op.getDst()))
      return rewriter.notifyMatchFailure(op, *reason);
    cpu::PackedWeights weights(op.getWeights());
    if (Reason reason = kernel::whyNotPixelRows({weights.outer.drop_front(),
                                                 op.getStrides(), op.getPads(),
                                                 int64_t(op.getGroups())}))
      return rewriter.notifyMatchFailure(op, *reason);
    if (op.getCompensation())
      return rewriter.notifyMatchFailure(op, "compensates for a zero point");
    SmallVector<ReassociationIndices> groups(1);
    int64_t rank = typeOf(op.getWeights()).getRank(),
            outer = weights.outer.size();
    for (int64_t i = 0; i < rank; ++i) {
      if (i >= outer)
        groups.emplace_back();
      groups.back().push_back(i);
    }
    Value flat = tensor::CollapseShapeOp::create(rewriter, op.getLoc(),
                                                 op.getWeights(), groups);
    replaceByMatMul(rewriter, op, flat);
    return success();
  }
};

struct BatchedRows : OpRewritePattern<cpu::MatMulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(cpu::MatMulOp op,
                                PatternRewriter &rewriter) const override {
    if (Reason reason = kernel::whyNotMatrices(op))
      return rewriter.notifyMatchFailure(op, *reason);
    if (op.getFormat().isBlocks())
      return rewriter.notifyMatchFailure(op, "has blocks of weights");
    if (isFlat(typeOf(op.getDst())) ||
        cpu::PackedWeights(op.getWeights()).outer.size() != 1)
      return rewriter.notifyMatchFailure(
          op, "is a product of matrices already, or has a right factor for "
              "each batch");
    replaceByMatMul(rewriter, op, op.getWeights());
    return success();
  }
};

struct PackedRows : OpRewritePattern<cpu::PackedMatMulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(cpu::PackedMatMulOp op,
                                PatternRewriter &rewriter) const override {
    if (Reason reason = kernel::whyNotMatrices(op))
      return rewriter.notifyMatchFailure(op, *reason);
    RankedTensorType dst = typeOf(op.getDst());
    if (isFlat(dst))
      return rewriter.notifyMatchFailure(op,
                                         "is a product of matrices already");
    kernel::replaceByMatrices(rewriter, op, op.getSrc(), rowsAndColumns(dst),
                              [&](Value src, ValueRange operands, Value dst) {
                                return cpu::PackedMatMulOp::create(
                                    rewriter, op.getLoc(), dst.getType(), src,
                                    op.getWeights(), op.getScales(),
                                    op.getZeroPoints(), operands, dst,
                                    op.getFormat(), /*schedule=*/{});
                              });
    return success();
  }
};

/// Turns a convolution along a column of pixels into one along a row, because
/// register tiles extend along rows.
struct ColumnConv : OpRewritePattern<cpu::ConvOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(cpu::ConvOp op,
                                PatternRewriter &rewriter) const override {
    auto dst = dyn_cast<RankedTensorType>(op.getDst().getType());
    if (!dst)
      return rewriter.notifyMatchFailure(op, "is on memrefs");
    int64_t rank = dst.getRank(), spatial = rank - 2;
    cpu::PackedWeights weights(op.getWeights());
    ArrayRef<int64_t> pads = op.getPads();
    if (spatial < 2 || op.getCompensation() || op.getFormat().getPairs() ||
        typeOf(op.getSrc()).getDimSize(spatial) != 1 ||
        dst.getDimSize(spatial) != 1 || weights.outer.back() != 1 ||
        kernel::allOnes(weights.outer.drop_front()) || pads[spatial - 1] != 0 ||
        pads.back() != 0)
      return rewriter.notifyMatchFailure(op, "is not a column of pixels");
    if (Reason reason = kernel::whyNotReshaped(op.getDst()))
      return rewriter.notifyMatchFailure(op, *reason);
    Location loc = op.getLoc();
    // Joins dimension `dim`, which is 1, with the previous dimension.
    auto without = [](int64_t rank, int64_t dim) {
      SmallVector<ReassociationIndices> groups;
      for (int64_t i = 0; i < rank; ++i) {
        if (i != dim)
          groups.emplace_back();
        groups.back().push_back(i);
      }
      return groups;
    };
    Value packed = tensor::CollapseShapeOp::create(
        rewriter, loc, op.getWeights(),
        without(typeOf(op.getWeights()).getRank(), spatial));
    SmallVector<int64_t> begins(pads.take_front(spatial - 1)),
        ends(pads.drop_front(spatial).take_front(spatial - 1));
    begins.append(ends);
    kernel::replaceReshaped(rewriter, op, op.getSrc(), without(rank, spatial),
                            [&](Value src, ValueRange operands, Value dst) {
                              return cpu::ConvOp::create(
                                  rewriter, loc, dst.getType(), src, packed,
                                  /*compensation=*/Value(), /*pairs=*/Value(),
                                  operands, dst, op.getStrides().drop_back(),
                                  begins, op.getDilations().drop_back(),
                                  op.getGroups(), op.getSrcZeroPoint(),
                                  op.getFormat().withoutStatements(),
                                  op.getDstSignsAttr(), /*schedule=*/{});
                            });
    return success();
  }
};

struct FlattenKernelsPass
    : ingot::impl::FlattenKernelsBase<FlattenKernelsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<BatchedRows, ColumnConv, PackedRows, PointwiseConv>(
        &getContext());
    rewriteInOneWalk(getOperation(), std::move(patterns));
  }
};

} // namespace
