//===- TopKToCuda.cpp - top k to cuda ops ---------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cuda/CudaDialect.h"
#include "dialects/nn/NNDialect.h"
#include "passes/cuda/lower/CudaSupport.h"
#include "passes/cuda/lower/NNToCuda.h"
#include "passes/support/Tensors.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace ingot;
using support::Sizes;
using support::typeOf;

namespace {

/// Takes the first of a sorted row.
struct ArgReducePattern : OpRewritePattern<nn::ArgReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nn::ArgReduceOp op,
                                PatternRewriter &b) const override;
};

struct TopKPattern : OpRewritePattern<nn::TopKOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nn::TopKOp op,
                                PatternRewriter &b) const override;
};

/// The order of a row, and the most elements that are taken from it if only a
/// run knows their number.
struct Order {
  bool isSmallest, isUnsigned;
  IntegerAttr most = {};
};

} // namespace

/// Builds the kernel that takes the first `k` elements of each row. `sizes` are
/// the number of rows and their length.
static cuda::TopKOp buildTopK(OpBuilder &b, Location loc, Value x,
                              ArrayRef<OpFoldResult> sizes, OpFoldResult k,
                              const Order &order) {
  x = support::reshape(b, loc, x, sizes);
  Type element = typeOf(x).getElementType();
  Value values = support::empty(b, loc, {sizes[0], k}, element),
        indices = support::empty(b, loc, {sizes[0], k}, b.getI64Type());
  return cuda::TopKOp::create(
      b, loc, TypeRange{values.getType(), indices.getType()}, x, values,
      indices, order.isSmallest, order.isUnsigned, order.most);
}

LogicalResult TopKPattern::matchAndRewrite(nn::TopKOp op,
                                           PatternRewriter &b) const {
  if (Reason reason = cuda::whyNotToCuda(op))
    return b.notifyMatchFailure(op, *reason);
  Location loc = op.getLoc();
  Value x = op.getX();
  const int64_t rank = typeOf(x).getRank(), axis = op.getAxis();
  Sizes sizes = support::sizesOf(b, loc, x),
        found = support::resultSizes(b, op->getResult(0));
  // The rows lie along the axis, so make it the last dimension.
  SmallVector<int64_t> perm = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  const bool isLast =
      support::productOf(typeOf(x).getShape().drop_front(axis + 1)) == 1;
  if (!isLast) {
    perm.erase(perm.begin() + axis);
    perm.push_back(axis);
    x = support::transpose(b, loc, x, perm);
  }
  OpFoldResult length = sizes[size_t(axis)], k = found[size_t(axis)];
  sizes.erase(sizes.begin() + axis);
  OpFoldResult rows = support::productOf(b, loc, sizes);
  Order order{op.getSmallest(), support::isUnsigned(op.getX().getType()),
              getConstantIntValue(k) ? IntegerAttr() : op.getKAttr()};
  auto kernel = buildTopK(b, loc, x, {rows, length}, k, order);
  SmallVector<Value> results;
  for (auto [result, value] :
       llvm::zip_equal(op->getResults(), kernel.getResults())) {
    Value shaped =
        support::reshape(b, loc, value, applyPermutation(found, perm));
    if (!isLast)
      shaped =
          support::transpose(b, loc, shaped, invertPermutationVector(perm));
    results.push_back(support::castTo(b, loc, shaped, result.getType()));
  }
  b.replaceOp(op, results);
  return success();
}

LogicalResult ArgReducePattern::matchAndRewrite(nn::ArgReduceOp op,
                                                PatternRewriter &b) const {
  if (Reason reason = cuda::whyNotToCuda(op))
    return b.notifyMatchFailure(op, *reason);
  Location loc = op.getLoc();
  Value x = op.getX();
  RankedTensorType type = typeOf(x);
  bool isSmallest = op.getKind() == nn::ReduceKind::min;
  // NaN is the minimum, too, but a sort has it behind all numbers.
  if (isSmallest && isa<FloatType>(type.getElementType())) {
    x = nn::NegOp::create(b, loc, type, x);
    isSmallest = false;
  }
  const auto axis = size_t(op.getAxis());
  Sizes sizes = support::sizesOf(b, loc, x);
  OpFoldResult one = b.getIndexAttr(1),
               rows = support::productOf(
                   b, loc, ArrayRef<OpFoldResult>(sizes).take_front(axis));
  auto kernel = buildTopK(b, loc, x, {rows, sizes[axis]}, one,
                          {isSmallest, support::isUnsigned(type)});
  Value y = support::reshape(b, loc, kernel.getResult(1),
                             support::resultSizes(b, op->getResult(0)));
  b.replaceOp(op, support::castTo(b, loc, y, op.getY().getType()));
  return success();
}

void cuda::populateTopKToCuda(RewritePatternSet &patterns) {
  patterns.add<ArgReducePattern, TopKPattern>(patterns.getContext());
}
