//===- SinkThroughReshape.cpp - transposes behind reshapes ----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/layout/Sink.h"
#include "passes/shape/SameSizes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::layout;

namespace {
/// Neighbouring operand dimensions that become neighbouring result dimensions
/// of a reshape.
struct Group {
  SmallVector<int64_t> from, to;
  /// Place in the order of groups, and in the reshape.
  std::pair<int64_t, size_t> key;
};
} // namespace

static bool isDynamic(int64_t size) { return ShapedType::isDynamic(size); }

/// Splits a reshape into the smallest groups; nullopt if sizes are unknown
/// that it depends on.
static std::optional<SmallVector<Group>> splitReshape(ArrayRef<int64_t> x,
                                                      ArrayRef<int64_t> y) {
  // One dynamic dimension on each side is the same if the others multiply to
  // the same.
  auto product = [](ArrayRef<int64_t> shape) {
    int64_t product = 1;
    for (int64_t size : shape)
      if (!isDynamic(size))
        product *= size;
    return product;
  };
  int64_t unknown = llvm::count_if(x, isDynamic);
  if (unknown > 1 || unknown != llvm::count_if(y, isDynamic) ||
      product(x) != product(y) || product(x) == 0)
    return std::nullopt;
  SmallVector<Group> groups;
  size_t i = 0, j = 0;
  while (i < x.size() || j < y.size()) {
    Group group;
    bool unitX = i < x.size() && x[i] == 1, unitY = j < y.size() && y[j] == 1;
    if (unitX || unitY) {
      if (unitX)
        group.from.push_back(i++);
      if (unitY)
        group.to.push_back(j++);
      groups.push_back(group);
      continue;
    }
    if (i >= x.size() || j >= y.size())
      return std::nullopt;
    int64_t left = x[i], right = y[j];
    if (isDynamic(left) != isDynamic(right))
      return std::nullopt;
    group.from.push_back(i++);
    group.to.push_back(j++);
    while (left != right) {
      bool grow = left < right;
      if (grow ? i >= x.size() || isDynamic(x[i])
               : j >= y.size() || isDynamic(y[j]))
        return std::nullopt;
      if (grow) {
        left *= x[i];
        group.from.push_back(i++);
      } else {
        right *= y[j];
        group.to.push_back(j++);
      }
    }
    groups.push_back(group);
  }
  return groups;
}

/// The dimensions of an open reshape: as many in front and at the end as are
/// known to keep their sizes are groups of their own, what is between them is
/// another. (Without elements it need not be as large, but then nothing is.)
static SmallVector<Group> splitOpenReshape(int64_t rankX, int64_t rankY,
                                           OpenReshapes::Ends ends) {
  SmallVector<Group> groups;
  auto keep = [&](int64_t from, int64_t to) {
    groups.push_back({{from}, {to}, {}});
  };
  for (int64_t d = 0; d < ends.front; ++d)
    keep(d, d);
  Group between;
  llvm::append_range(between.from,
                     llvm::seq<int64_t>(ends.front, rankX - ends.back));
  llvm::append_range(between.to,
                     llvm::seq<int64_t>(ends.front, rankY - ends.back));
  if (!between.from.empty() || !between.to.empty())
    groups.push_back(between);
  for (int64_t d = ends.back; d > 0; --d)
    keep(rankX - d, rankY - d);
  return groups;
}

static OpenReshapes::Ends findEnds(const shape::SameSizes &sizes,
                                   tensor::ReshapeOp op) {
  int64_t rankX = typeOf(op.getSource()).getRank();
  int64_t rankY = typeOf(op.getResult()).getRank();
  int64_t most = std::min(rankX, rankY);
  auto isSame = [&](int64_t dimX, int64_t dimY) {
    return sizes.isSame(op.getSource(), dimX, op.getResult(), dimY);
  };
  OpenReshapes::Ends ends;
  while (ends.front < most && isSame(ends.front, ends.front))
    ++ends.front;
  while (ends.front + ends.back < most &&
         isSame(rankX - ends.back - 1, rankY - ends.back - 1))
    ++ends.back;
  return ends;
}

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
      found[op] = findEnds(*sizes, op);
    });
  });
}

/// Whether no dimension of another group lies between those of `group` in a.
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

/// reshape(transpose(a)): the groups of the reshape are put into the order that
/// their dimensions have in a. What is left of the transpose within groups
/// stays before the reshape, the order of groups comes after it. `reshape` is
/// the same of another operand, with its dimensions in another order.
static LogicalResult
sinkThrough(Operation *op, nn::TransposeOp transpose,
            SmallVector<Group> groups, PatternRewriter &rewriter,
            function_ref<Value(Value x, const Perm &order)> reshape) {
  RankedTensorType a = typeOf(transpose.getX());
  ArrayRef<int64_t> perm = transpose.getPerm();
  // A group goes where its first dimension of more than one element is in
  // a; one without such follows the group before it.
  int64_t key = -1;
  for (auto [i, group] : llvm::enumerate(groups)) {
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
  // Splitting one transpose into two pays if the first stays within groups
  // that are together in a, and the second is one that channels-last
  // convolutions take away: that is how a channel shuffle looks.
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
    // Reshapes with a transpose between them that is gone are one.
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
    auto groups = splitReshape(typeOf(from).getShape(), y.getShape());
    if (!groups)
      return rewriter.notifyMatchFailure(op, "has sizes that do not split it");
    return sinkThrough(op, transpose, *groups, rewriter,
                       [&](Value x, const Perm &order) {
                         return rewriter.createOrFold<nn::ReshapeOp>(
                             op.getLoc(), permute(y, order), x);
                       });
  }
};

/// The same where a run computes the sizes.
struct SinkThroughOpenReshape : OpRewritePattern<tensor::ReshapeOp> {
  SinkThroughOpenReshape(MLIRContext *context, const OpenReshapes &reshapes)
      : OpRewritePattern(context), reshapes(reshapes) {}

  LogicalResult matchAndRewrite(tensor::ReshapeOp op,
                                PatternRewriter &rewriter) const override {
    nn::TransposeOp transpose = transposeFor(op, op.getSource());
    if (!transpose)
      return rewriter.notifyMatchFailure(op, kNoTranspose);
    std::optional<OpenReshapes::Ends> ends = reshapes.lookup(op);
    if (!ends)
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
    return sinkThrough(
        op, transpose,
        splitOpenReshape(typeOf(op.getSource()).getRank(), y.getRank(), *ends),
        rewriter, reshape);
  }

  const OpenReshapes &reshapes;
};

} // namespace

void layout::populateSinkThroughReshape(RewritePatternSet &patterns,
                                        const OpenReshapes &reshapes) {
  patterns.add<SinkThroughReshape>(patterns.getContext());
  patterns.add<SinkThroughOpenReshape>(patterns.getContext(), reshapes);
}
