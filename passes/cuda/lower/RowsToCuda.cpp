//===- RowsToCuda.cpp - softmax and norms to cuda ops ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cuda/CudaDialect.h"
#include "dialects/nn/NNDialect.h"
#include "passes/cuda/lower/CudaSupport.h"
#include "passes/cuda/lower/NNToCuda.h"
#include "passes/kernel/RowEpilogue.h"
#include "passes/support/Tensors.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace ingot;
using support::Sizes;
using support::typeOf;

static void buildRowEpilogue(OpBuilder &b, Location loc, Region &epilogue,
                             bool hasScale, bool hasBias) {
  kernel::buildRowEpilogue<cuda::YieldOp>(b, loc, epilogue, b.getF32Type(),
                                          hasScale, hasBias);
}

void cuda::buildPlainEpilogue(OpBuilder &b, Location loc, Region &epilogue) {
  ::buildRowEpilogue(b, loc, epilogue, /*hasScale=*/false, /*hasBias=*/false);
}

/// Returns the number of elements of the dimensions from `first` to before
/// `end`.
static int64_t countElements(Value x, int64_t first, int64_t end) {
  return support::productOf(
      typeOf(x).getShape().slice(size_t(first), size_t(end - first)));
}

/// Reshapes a tensor of static sizes.
static Value reshapeTo(OpBuilder &b, Location loc, Value x,
                       ArrayRef<int64_t> shape) {
  if (typeOf(x).getShape() == shape)
    return x;
  return support::reshape(b, loc, x,
                          getAsIndexOpFoldResult(b.getContext(), shape));
}

namespace {

struct SoftmaxPattern : OpRewritePattern<nn::SoftmaxOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nn::SoftmaxOp op,
                                PatternRewriter &b) const override;
};

/// Lowers layer norm and RMS norm.
template <typename Op>
struct RowNormPattern : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &b) const override;
};

struct GroupNormPattern : OpRewritePattern<nn::GroupNormOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nn::GroupNormOp op,
                                PatternRewriter &b) const override;
};

} // namespace

LogicalResult SoftmaxPattern::matchAndRewrite(nn::SoftmaxOp op,
                                              PatternRewriter &b) const {
  if (Reason reason = cuda::whyNotToCuda(op))
    return b.notifyMatchFailure(op, *reason);
  Location loc = op.getLoc();
  ArrayRef<int64_t> shape = op.getY().getType().getShape();
  const auto axis = size_t(op.getAxis());
  const int64_t columns = support::productOf(shape.drop_front(axis + 1));
  // The dimensions behind the axis become columns.
  Sizes sizes = support::sizesOf(b, loc, op.getX()), joined(sizes);
  joined.truncate(axis + 1);
  if (columns != 1)
    joined.push_back(b.getIndexAttr(columns));
  Value x = support::reshape(b, loc, op.getX(), joined);
  auto kernel = cuda::SoftmaxOp::create(b, loc, x.getType(), x, ValueRange(),
                                        support::emptyLike(b, loc, x),
                                        op.getLog(), /*columns=*/columns != 1,
                                        /*schedule=*/cuda::RowScheduleAttr());
  cuda::buildPlainEpilogue(b, loc, kernel.getEpilogue());
  b.replaceOp(
      op, support::castTo(b, loc,
                          support::reshape(b, loc, kernel.getResult(), sizes),
                          op.getY().getType()));
  return success();
}

template <typename Op>
LogicalResult RowNormPattern<Op>::matchAndRewrite(Op op,
                                                  PatternRewriter &b) const {
  if (Reason reason = cuda::whyNotToCuda(op))
    return b.notifyMatchFailure(op, *reason);
  constexpr bool isRms = std::is_same_v<Op, nn::RMSNormOp>;
  Location loc = op.getLoc();
  ArrayRef<int64_t> shape = typeOf(op.getY()).getShape();
  const int64_t axis = op.getAxis(), rank = int64_t(shape.size());
  const int64_t length = countElements(op.getX(), axis, rank);
  Value scale = op.getScale(), bias;
  if constexpr (!isRms)
    bias = op.getBias();
  SmallVector<int64_t> factorShape(size_t(axis), 1);
  factorShape.push_back(length);
  SmallVector<Value> operands;
  for (Value factor : {scale, bias})
    if (factor)
      operands.push_back(reshapeTo(b, loc, factor, factorShape));
  // Joins the normalized dimensions into one.
  SmallVector<int64_t> flat(shape.take_front(size_t(axis)));
  flat.push_back(length);
  Value x = reshapeTo(b, loc, op.getX(), flat);
  auto kernel = cuda::RowNormOp::create(
      b, loc, x.getType(), x, operands, support::emptyLike(b, loc, x),
      op.getEpsilonAttr(), isRms ? b.getUnitAttr() : UnitAttr(),
      /*schedule=*/cuda::RowScheduleAttr());
  buildRowEpilogue(b, loc, kernel.getEpilogue(), bool(scale), bool(bias));
  b.replaceOp(op, reshapeTo(b, loc, kernel.getResult(), shape));
  return success();
}

LogicalResult GroupNormPattern::matchAndRewrite(nn::GroupNormOp op,
                                                PatternRewriter &b) const {
  if (Reason reason = cuda::whyNotToCuda(op))
    return b.notifyMatchFailure(op, *reason);
  Location loc = op.getLoc();
  ArrayRef<int64_t> shape = typeOf(op.getY()).getShape();
  const int64_t rank = int64_t(shape.size());
  Value x = reshapeTo(
      b, loc, op.getX(),
      {shape.front(), countElements(op.getX(), 1, rank - 1), shape.back()});
  Value operands[] = {support::expandVector(b, op.getScale(), 3),
                      support::expandVector(b, op.getBias(), 3)};
  auto kernel = cuda::GroupNormOp::create(
      b, loc, x.getType(), x, operands, support::emptyLike(b, loc, x),
      op.getGroupsAttr(), op.getEpsilonAttr(),
      /*schedule=*/cuda::RowScheduleAttr());
  buildRowEpilogue(b, loc, kernel.getEpilogue(), /*hasScale=*/true,
                   /*hasBias=*/true);
  b.replaceOp(op, reshapeTo(b, loc, kernel.getResult(), shape));
  return success();
}

void cuda::populateRowsToCuda(RewritePatternSet &patterns) {
  patterns.add<GroupNormPattern, RowNormPattern<nn::LayerNormOp>,
               RowNormPattern<nn::RMSNormOp>, SoftmaxPattern>(
      patterns.getContext());
}
