//===- SinkThroughReshape.cpp - transposes below reshapes -----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/layout/Sink.h"
#include "passes/shape/SplitReshape.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::layout;
using namespace ingot::support;

namespace {
struct Group : support::ReshapeGroup {
  /// Sort key: the position of the group in a, and then in the reshape.
  std::pair<int64_t, size_t> key;
};
} // namespace

OpenReshapes::OpenReshapes(Operation *root) {
  root->walk([&](func::FuncOp function) {
    std::optional<shape::SameSizes> sizes;
    function.walk([&](tensor::ReshapeOp op) {
      if (!isa<RankedTensorType>(op.getSource().getType()) ||
          !isa<RankedTensorType>(op.getType()) ||
          !op.getShape().getDefiningOp<tensor::FromElementsOp>())
        return;
      if (!sizes)
        sizes.emplace(function);
      found[op] = shape::splitReshape(*sizes, op);
    });
  });
}

/// Returns true if no dimension of another group lies between the dimensions of
/// `group` in a. Dimensions of size 1 do not count.
static bool isTogether(const Group &group, ArrayRef<int64_t> a,
                       ArrayRef<int64_t> perm) {
  SmallVector<int64_t> places;
  for (int64_t dim : group.from)
    if (a[perm[dim]] != 1)
      places.push_back(perm[dim]);
  if (places.empty())
    return true;
  auto [first, last] = std::minmax_element(places.begin(), places.end());
  int64_t between = llvm::count_if(a.slice(*first, *last - *first + 1),
                                   [](int64_t size) { return size != 1; });
  return between == int64_t(places.size());
}

/// Sinks the transpose in reshape(transpose(a)). The groups of the reshape are
/// sorted by the order of their dimensions in a. A transpose within the groups
/// stays before the reshape, and a transpose of whole groups goes behind it.
/// `reshape` creates the reshape of another operand with the dimensions of its
/// result in another order.
static LogicalResult
sinkThrough(Operation *op, nn::TransposeOp transpose,
            ArrayRef<support::ReshapeGroup> parts, PatternRewriter &rewriter,
            function_ref<Value(Value x, const Perm &order)> reshape) {
  RankedTensorType a = typeOf(transpose.getX());
  ArrayRef<int64_t> perm = transpose.getPerm();
  // Sort a group by the position in a of its first dimension that is not 1. A
  // group without such a dimension follows the group before it.
  int64_t key = -1;
  SmallVector<Group> groups;
  for (auto [i, part] : llvm::enumerate(parts)) {
    Group &group = groups.emplace_back(Group{part, {}});
    for (int64_t dim : group.from) {
      if (a.getDimSize(perm[dim]) == 1)
        continue;
      key = perm[dim];
      break;
    }
    group.key = {key, i};
  }
  llvm::sort(groups,
             [](const Group &a, const Group &b) { return a.key < b.key; });
  Perm inner, outerInverse;
  for (const Group &group : groups) {
    for (int64_t dim : group.from)
      inner.push_back(perm[dim]);
    llvm::append_range(outerInverse, group.to);
  }
  Perm outer = inverse(outerInverse);
  bool innerMoves = !keepsOrder(a.getShape(), inner);
  // Split one transpose into two only if both conditions hold. The first one
  // must stay within groups whose dimensions are contiguous in a. The second
  // one must be to channels-first order, which a channels-last convolution then
  // cancels. Both hold in a channel shuffle.
  bool shuffles = outer.size() >= 3 &&
                  outer == toChannelsFirst(int64_t(outer.size())) &&
                  llvm::all_of(groups, [&](const Group &group) {
                    return isTogether(group, a.getShape(), perm);
                  });
  if (innerMoves && !shuffles)
    return rewriter.notifyMatchFailure(
        op, "merges dimensions that the transpose took apart");

  Value x = transpose.getX();
  if (innerMoves)
    x = transposed(rewriter, transpose.getLoc(), x, inner);
  rewriter.replaceOp(op, transposed(rewriter, op->getLoc(),
                                    reshape(x, outerInverse), outer));
  return success();
}

namespace {

struct SinkThroughReshape : OpRewritePattern<nn::ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nn::ReshapeOp op,
                                PatternRewriter &rewriter) const override {
    // Merge two reshapes if the transpose between them is gone.
    RankedTensorType y = typeOf(op);
    Value from = op.getX();
    while (auto inner = from.getDefiningOp<nn::ReshapeOp>())
      from = inner.getX();
    if (from.getType() == y && y.getNumDynamicDims() <= 1) {
      rewriter.replaceOp(op, from);
      return success();
    }
    if (from != op.getX())
      rewriter.modifyOpInPlace(op, [&] { op.getXMutable().assign(from); });

    nn::TransposeOp transpose = transposeFor(op, from);
    if (!transpose)
      return rewriter.notifyMatchFailure(op, kNoTranspose);
    auto groups = support::splitReshape(typeOf(from).getShape(), y.getShape());
    if (!groups)
      return rewriter.notifyMatchFailure(op, "has sizes that do not split it");
    return sinkThrough(op, transpose, *groups, rewriter,
                       [&](Value x, const Perm &order) {
                         return rewriter.createOrFold<nn::ReshapeOp>(
                             op.getLoc(), permute(y, order), x);
                       });
  }
};

/// Sinks a transpose below a reshape whose sizes are computed at run time.
struct SinkThroughOpenReshape : OpRewritePattern<tensor::ReshapeOp> {
  SinkThroughOpenReshape(MLIRContext *context, const OpenReshapes &reshapes)
      : OpRewritePattern(context), reshapes(reshapes) {}

  LogicalResult matchAndRewrite(tensor::ReshapeOp op,
                                PatternRewriter &rewriter) const override {
    nn::TransposeOp transpose = transposeFor(op, op.getSource());
    if (!transpose)
      return rewriter.notifyMatchFailure(op, kNoTranspose);
    std::optional<ArrayRef<support::ReshapeGroup>> groups = reshapes.lookup(op);
    if (!groups)
      return rewriter.notifyMatchFailure(op, "has no list of sizes");
    auto y = cast<RankedTensorType>(op.getType());
    auto list = op.getShape().getDefiningOp<tensor::FromElementsOp>();
    auto reshape = [&](Value x, const Perm &order) -> Value {
      SmallVector<Value> sizes;
      for (int64_t dim : order)
        sizes.push_back(list.getElements()[dim]);
      Value shape =
          tensor::FromElementsOp::create(rewriter, op.getLoc(), sizes);
      return tensor::ReshapeOp::create(rewriter, op.getLoc(),
                                       permute(y, order), x, shape);
    };
    return sinkThrough(op, transpose, *groups, rewriter, reshape);
  }

  const OpenReshapes &reshapes;
};

} // namespace

void layout::populateSinkThroughReshape(RewritePatternSet &patterns,
                                        const OpenReshapes &reshapes) {
  patterns.add<SinkThroughReshape>(patterns.getContext());
  patterns.add<SinkThroughOpenReshape>(patterns.getContext(), reshapes);
}
