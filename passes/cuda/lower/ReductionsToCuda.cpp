//===- ReductionsToCuda.cpp - reductions and poolings to cuda ops ---------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cuda/CudaDialect.h"
#include "dialects/nn/NNDialect.h"
#include "passes/cuda/lower/CudaSupport.h"
#include "passes/cuda/lower/NNToCuda.h"
#include "passes/support/ReshapeGroups.h"
#include "passes/support/Tensors.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace ingot;
using support::Sizes;
using support::typeOf;

namespace {

struct ReducePattern : OpRewritePattern<nn::ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nn::ReduceOp op,
                                PatternRewriter &b) const override;
};

template <typename Op>
struct PoolPattern : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &b) const override;
};

} // namespace

/// Joins the dimensions of `x` from `first` to before `end`, and those from
/// `end` on.
static Value joinDims(OpBuilder &b, Location loc, Value x, int64_t first,
                      int64_t end) {
  const int64_t rank = typeOf(x).getRank();
  SmallVector<ReassociationIndices> groups;
  for (int64_t i = 0; i < rank; ++i)
    if (i <= first || i == end)
      groups.push_back({i});
    else
      groups.back().push_back(i);
  if (int64_t(groups.size()) == rank)
    return x;
  return tensor::CollapseShapeOp::create(b, loc, x, groups);
}

/// Takes the last dimension of `y` apart. `sizes` are those of the result.
static Value splitColumns(OpBuilder &b, Location loc, Value y,
                          ArrayRef<OpFoldResult> sizes) {
  const int64_t rank = int64_t(sizes.size()), columns = typeOf(y).getRank() - 1;
  if (columns + 1 == rank)
    return y;
  SmallVector<int64_t> shape;
  for (OpFoldResult size : sizes)
    shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  return tensor::ExpandShapeOp::create(b, loc, typeOf(y).clone(shape), y,
                                       support::groupsFrom(rank, columns),
                                       sizes);
}

LogicalResult ReducePattern::matchAndRewrite(nn::ReduceOp op,
                                             PatternRewriter &b) const {
  if (Reason reason = cuda::whyNotToCuda(op))
    return b.notifyMatchFailure(op, *reason);
  Location loc = op.getLoc();
  ArrayRef<int64_t> axes = op.getAxes();
  const int64_t first = axes.front(), end = axes.back() + 1;
  Value x = joinDims(b, loc, op.getX(), first, end);
  Sizes sizes = support::sizesOf(b, loc, x), reduced(sizes);
  reduced.erase(reduced.begin() + first);
  Value dst = support::empty(b, loc, reduced, b.getF32Type());
  auto kernel = cuda::ReduceOp::create(
      b, loc, dst.getType(), cuda::ReduceKind(op.getKind()), x, ValueRange(),
      dst, /*schedule=*/cuda::RowScheduleAttr());
  cuda::buildPlainEpilogue(b, loc, kernel.getEpilogue());
  Sizes left;
  for (auto [i, size] : llvm::enumerate(support::sizesOf(b, loc, op.getX()))) {
    if (!llvm::is_contained(axes, int64_t(i)))
      left.push_back(size);
    else if (op.getKeepDims())
      left.push_back(b.getIndexAttr(1));
  }
  b.replaceOp(op, support::castTo(
                      b, loc, splitColumns(b, loc, kernel.getResult(), left),
                      op.getY().getType()));
  return success();
}

template <typename Op>
LogicalResult PoolPattern<Op>::matchAndRewrite(Op op,
                                               PatternRewriter &b) const {
  if (Reason reason = cuda::whyNotToCuda(op))
    return b.notifyMatchFailure(op, *reason);
  auto kind = cuda::PoolKind::max;
  if constexpr (std::is_same_v<Op, nn::AvgPoolOp>)
    kind = op.getCountIncludePad() ? cuda::PoolKind::mean_with_pads
                                   : cuda::PoolKind::mean;
  Location loc = op.getLoc();
  auto kernel = cuda::PoolOp::create(
      b, loc, op.getY().getType(), kind, op.getX(), ValueRange(),
      support::destinationOf(b, op->getResult(0)), op.getKernel(),
      op.getStrides(), op.getPads(), op.getDilations(),
      /*schedule=*/cuda::RowScheduleAttr());
  cuda::buildPlainEpilogue(b, loc, kernel.getEpilogue());
  b.replaceOp(op, kernel);
  return success();
}

void cuda::populateReductionsToCuda(RewritePatternSet &patterns) {
  patterns.add<PoolPattern<nn::AvgPoolOp>, PoolPattern<nn::MaxPoolOp>,
               ReducePattern>(patterns.getContext());
}
