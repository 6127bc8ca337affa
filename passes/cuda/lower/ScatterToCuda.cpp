//===- ScatterToCuda.cpp - scatters to cuda ops ---------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cuda/CudaDialect.h"
#include "dialects/ingot/IngotDialect.h"
#include "dialects/nn/NNDialect.h"
#include "passes/cuda/lower/CudaSupport.h"
#include "passes/cuda/lower/NNToCuda.h"
#include "passes/support/RequireIndices.h"
#include "passes/support/Tensors.h"
#include "passes/support/Updates.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace ingot;
using support::indexConstant;
using support::indexValue;
using support::Sizes;
using support::typeOf;
using support::UpdateRule;

/// The most updates that a thread compares its own one with. More updates are
/// sorted by position.
static constexpr int64_t kComparedUpdates = 64;

namespace {

/// Items that may have one position: `count` of them, which have `inner` items
/// from one to the next.
struct Line {
  int64_t count, inner;
};

/// The items of all updates, and the number of dimensions of x that a position
/// has.
struct Items {
  Value items;
  size_t depth;
};

template <typename Op>
struct ScatterPattern : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &b) const override;
};

} // namespace

/// Returns the number of the element at `at` in a tensor of `sizes`.
static Value linearize(OpBuilder &b, Location loc, ArrayRef<Value> at,
                       ArrayRef<OpFoldResult> sizes) {
  Value number = indexConstant(b, loc, 0);
  for (auto [index, size] : llvm::zip_equal(at, sizes)) {
    number = arith::MulIOp::create(b, loc, number, indexValue(b, loc, size));
    number = arith::AddIOp::create(b, loc, number, index);
  }
  return number;
}

/// Returns the items of updates (`cuda.scatter`) of `sizes`, in the order of
/// the updates. `maps` are those of `indices`, one for each coordinate of a
/// position. `locate` returns the indices of the slice in x, whose first sizes
/// are `data`, for these coordinates of the update at `at`.
static Value itemsOf(
    OpBuilder &b, Value indices, ArrayRef<AffineMap> maps,
    ArrayRef<OpFoldResult> sizes, ArrayRef<OpFoldResult> data,
    function_ref<SmallVector<Value>(
        OpBuilder &, Location, ArrayRef<Value> coordinates, ArrayRef<Value> at)>
        locate) {
  Type i64 = b.getI64Type();
  Location loc = indices.getLoc();
  // An op that extracted the only element of indices would move out of the
  // loop, to the host.
  return support::createGeneric(
      b, loc, support::empty(b, loc, sizes, i64),
      SmallVector<Value>(maps.size(), indices), maps,
      [&](OpBuilder &b, Location loc, ValueRange args) {
        SmallVector<Value> at;
        for (size_t i = 0; i < sizes.size(); ++i)
          at.push_back(linalg::IndexOp::create(b, loc, int64_t(i)));
        SmallVector<Value> to =
            locate(b, loc, llvm::to_vector(args.take_front(maps.size())), at);
        Value number = linearize(b, loc, at, sizes),
              position = linearize(b, loc, to, data);
        Value high = arith::ShLIOp::create(
            b, loc, arith::IndexCastOp::create(b, loc, i64, position),
            arith::ConstantIntOp::create(b, loc, i64, 32));
        return arith::OrIOp::create(
                   b, loc, high,
                   arith::IndexCastOp::create(b, loc, i64, number))
            .getResult();
      });
}

/// Returns `items` in the form of `cuda.scatter`. Only items of one line may
/// have one position, or all of them if there is no line.
static Value arrange(OpBuilder &b, Location loc, Value items,
                     std::optional<Line> line) {
  OpFoldResult all =
      support::productOf(b, loc, support::sizesOf(b, loc, items));
  std::optional<int64_t> known = getConstantIntValue(all);
  if (!line && known && *known > 0 && *known <= kComparedUpdates)
    line = Line{*known, 1};
  items = support::reshape(b, loc, items, {all});
  if (line && line->count <= kComparedUpdates) {
    int64_t sizes[] = {*known / (line->count * line->inner), line->count,
                       line->inner};
    return support::reshape(b, loc, items,
                            getAsIndexOpFoldResult(b.getContext(), sizes));
  }
  Value spare = support::emptyLike(b, loc, items);
  return cuda::SortOp::create(
             b, loc, TypeRange{items.getType(), items.getType()}, items, spare)
      .getResult(0);
}

/// Returns the lines of the indices of `op`: those along its axis, if the other
/// sizes are known to fit.
static std::optional<Line> lineOf(nn::ScatterElementsOp op) {
  ArrayRef<int64_t> shape = typeOf(op.getIndices()).getShape();
  const auto axis = size_t(op.getAxis());
  if (ShapedType::isDynamicShape(shape) || support::isKnownEmpty(shape))
    return std::nullopt;
  for (auto [d, size] : llvm::enumerate(typeOf(op.getX()).getShape()))
    if (d != axis && (ShapedType::isDynamic(size) || shape[d] > size))
      return std::nullopt;
  return Line{shape[axis], support::productOf(shape.drop_front(axis + 1))};
}

static Items findItems(OpBuilder &b, nn::ScatterElementsOp op) {
  Location loc = op.getLoc();
  Value indices = op.getIndices();
  const auto axis = size_t(op.getAxis());
  Sizes data = support::sizesOf(b, loc, op.getX()),
        sizes = support::sizesOf(b, loc, indices);
  support::requireIndices(b, loc, indices, data[axis]);
  Value items = itemsOf(
      b, indices, b.getMultiDimIdentityMap(unsigned(sizes.size())), sizes, data,
      [&](OpBuilder &b, Location loc, ArrayRef<Value> coordinates,
          ArrayRef<Value> at) {
        SmallVector<Value> to(at);
        to[axis] = support::safeIndex(b, loc, coordinates.front(),
                                      indexValue(b, loc, data[axis]));
        return to;
      });
  return {arrange(b, loc, items, lineOf(op)), data.size()};
}

static Items findItems(OpBuilder &b, nn::ScatterNDOp op) {
  Location loc = op.getLoc();
  Value indices = op.getIndices();
  const int64_t depth = typeOf(indices).getShape().back();
  Sizes data = support::sizesOf(b, loc, op.getX()),
        sizes = support::sizesOf(b, loc, indices);
  data.truncate(size_t(depth));
  if (sizes.size() == 1) {
    sizes.insert(sizes.begin(), b.getIndexAttr(1));
    indices = support::reshape(b, loc, indices, sizes);
  }
  sizes.pop_back();
  support::requireIndices(b, loc, indices, data);
  const auto rank = unsigned(sizes.size());
  SmallVector<AffineMap> maps;
  for (int64_t i = 0; i < depth; ++i) {
    AffineMap all = b.getMultiDimIdentityMap(rank);
    maps.push_back(all.insertResult(b.getAffineConstantExpr(i), rank));
  }
  Value items =
      itemsOf(b, indices, maps, sizes, data,
              [&](OpBuilder &b, Location loc, ArrayRef<Value> coordinates,
                  ArrayRef<Value>) {
                SmallVector<Value> to;
                for (auto [entry, size] : llvm::zip_equal(coordinates, data))
                  to.push_back(support::safeIndex(b, loc, entry,
                                                  indexValue(b, loc, size)));
                return to;
              });
  return {arrange(b, loc, items, std::nullopt), size_t(depth)};
}

/// Replaces `op` by updates of slices of x.
template <typename Op>
LogicalResult ScatterPattern<Op>::matchAndRewrite(Op op,
                                                  PatternRewriter &b) const {
  if (Reason reason = cuda::whyNotToCuda(op))
    return b.notifyMatchFailure(op, *reason);
  Location loc = op.getLoc();
  auto [items, depth] = findItems(b, op);
  Sizes sizes = support::sizesOf(b, loc, op.getX());
  ArrayRef<OpFoldResult> all = sizes;
  OpFoldResult positions = support::productOf(b, loc, all.take_front(depth)),
               slice = support::productOf(b, loc, all.drop_front(depth)),
               updates =
                   support::productOf(b, loc, support::sizesOf(b, loc, items));
  Value x = support::reshape(b, loc, op.getX(), {positions, slice}),
        from = support::reshape(b, loc, op.getUpdates(), {updates, slice});
  auto kernel = cuda::ScatterOp::create(b, loc, x.getType(), items, from, x);
  Type element = support::signless(typeOf(x).getElementType());
  {
    OpBuilder::InsertionGuard guard(b);
    Block *body = b.createBlock(&kernel.getCombiner(), {}, {element, element},
                                {loc, loc});
    UpdateRule rule{op.getReduction(),
                    support::isUnsigned(op.getX().getType())};
    cuda::YieldOp::create(
        b, loc,
        rule.combine(b, loc, body->getArgument(0), body->getArgument(1)));
  }
  Value y = support::reshape(b, loc, kernel.getResult(), sizes);
  b.replaceOp(op, support::castTo(b, loc, y, op.getY().getType()));
  return success();
}

void cuda::populateScatterToCuda(RewritePatternSet &patterns) {
  patterns.add<ScatterPattern<nn::ScatterElementsOp>,
               ScatterPattern<nn::ScatterNDOp>>(patterns.getContext());
}
