//===- Sampling.cpp - sums of elements at computed indices ----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/vision/Sampling.h"

#include "passes/support/Thresholds.h"

#include <limits>

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;
using namespace ingot::support;

Value legalize::flattenSpatial(Node &node, Value x) {
  Sizes sizes = sizesOf(node, x), flat(sizes.begin(), sizes.begin() + 2);
  OpFoldResult count = sizeAttr(node, 1);
  for (OpFoldResult size : ArrayRef(sizes).drop_front(2))
    count = mulSizes(node, count, size);
  flat.push_back(count);
  return reshape(node, x, flat);
}

Value legalize::holdNear(support::Scalars s, Value x, Value size,
                         double margin) {
  x = arith::MaxNumFOp::create(s.b, s.loc, x, s.f(-margin));
  return arith::MinNumFOp::create(s.b, s.loc, x,
                                  s.add(s.toFloat(size), s.f(margin)));
}

Value legalize::isWithin(support::Scalars s, Value x, Value low, Value high) {
  Value above = arith::CmpIOp::create(s.b, s.loc, arith::CmpIPredicate::sge, x,
                                      low);
  Value below = arith::CmpIOp::create(s.b, s.loc, arith::CmpIPredicate::slt, x,
                                      high);
  return arith::AndIOp::create(s.b, s.loc, above, below);
}

Corner legalize::cornerOf(support::Scalars s, Value tap, ArrayRef<Value> point,
                          ArrayRef<Value> sizes) {
  Value at = s.n(0), weight = s.f(1), isInside;
  for (auto [d, x] : llvm::enumerate(point)) {
    Value bit = arith::AndIOp::create(
        s.b, s.loc, arith::ShRUIOp::create(s.b, s.loc, tap, s.n(d)), s.n(1));
    Value below = s.floor(x), share = s.sub(x, below);
    Value here = s.add(s.toIndex(below), bit);
    weight = s.mul(weight, s.choose(arith::CmpIPredicate::eq, bit, s.n(1),
                                    share, s.sub(s.f(1), share)));
    at = s.add(s.mul(at, sizes[d]), here);
    Value inside = isWithin(s, here, s.n(0), sizes[d]);
    isInside = isInside
                   ? Value(arith::AndIOp::create(s.b, s.loc, isInside, inside))
                   : inside;
  }
  return {arith::SelectOp::create(s.b, s.loc, isInside, at, s.n(-1)), weight};
}

/// Returns the term of one tap: 0 if it is outside. `place` has the batch and
/// the channel.
static Value readTap(support::Scalars s, Value x, ValueRange place, Value at,
                     Value weight, bool isLast) {
  OpBuilder &b = s.b;
  Location loc = s.loc;
  Type element = typeOf(x).getElementType();
  Value index = arith::IndexCastOp::create(b, loc, b.getIndexType(), at);
  Value held = arith::MaxSIOp::create(b, loc, index, s.n(0));
  SmallVector<Value> where = {place[0], place[1], held};
  if (isLast)
    std::swap(where[1], where[2]);
  Value read = tensor::ExtractOp::create(b, loc, x, where);
  Value isOutside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                          index, s.n(0));
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(element));
  Value value = arith::SelectOp::create(b, loc, isOutside, zero, read);
  return weight ? s.mul(value, weight) : value;
}

/// Swaps the last two of three dimensions.
static Value swapLast(Node &node, Value x) {
  RankedTensorType type = typeOf(x);
  ArrayRef<int64_t> shape = type.getShape();
  return node.make<nn::TransposeOp>(
      type.clone({shape[0], shape[2], shape[1]}), x,
      ArrayRef<int64_t>{0, 2, 1});
}

Value legalize::sumOfTaps(Node &node, Value x, Value batches, const Taps &taps,
                          bool isMax) {
  OpBuilder &builder = node.builder;
  Type element = typeOf(x).getElementType();
  // Put channels last if there are many. All channels of a position have the
  // same taps, so a vector then reads several channels. Without weights, the
  // time for the transpose is not gained back.
  int64_t numChannels = typeOf(x).getDimSize(1);
  bool isLast = taps.weights && !ShapedType::isDynamic(numChannels) &&
                numChannels >= threshold::sampledChannels;
  OpFoldResult channels = sizeOf(node, x, 1);
  if (isLast)
    x = swapLast(node, x);
  Sizes shape = sizesOf(node, taps.at), result = {shape[1], channels, shape[2]};
  if (isLast)
    std::swap(result[1], result[2]);
  auto known = getConstantIntValue(shape[0]);
  // Unroll only with channels first. With channels last, keep the reduction
  // over taps, because a reduction keeps the order of its loops. A loop nest
  // without a reduction would be fused with the following transpose, and take
  // over the order of the transpose.
  bool isUnrolled = !isLast && known && *known <= threshold::sampledTaps;
  // Loops over r, c, t, p, or without t if it is unrolled, so that the
  // innermost loop is vectorized. With channels last, c and p are swapped.
  unsigned rank = isUnrolled ? 3 : 4, last = rank - 1;
  unsigned ofChannels = isLast ? last : 1, ofPositions = isLast ? 1 : last;
  auto map = [&](ArrayRef<unsigned> dims) {
    SmallVector<AffineExpr> exprs;
    for (unsigned d : dims)
      exprs.push_back(builder.getAffineDimExpr(d));
    return AffineMap::get(rank, 0, exprs, node.context());
  };
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  if (batches) {
    inputs.push_back(batches);
    maps.push_back(map({0}));
  }
  auto addInput = [&](Value all, int64_t t) {
    if (!all)
      return;
    if (isUnrolled) {
      Sizes one = {sizeAttr(node, 1), shape[1], shape[2]};
      Sizes from(3, sizeAttr(node, 0));
      from[0] = sizeAttr(node, t);
      all = reshape(node, takePart(node, all, from, one),
                    {shape[1], shape[2]});
      maps.push_back(map({0, ofPositions}));
    } else {
      maps.push_back(map({2, 0, ofPositions}));
    }
    inputs.push_back(all);
  };
  int64_t count = isUnrolled ? *known : 1;
  for (int64_t t = 0; t < count; ++t) {
    addInput(taps.at, t);
    addInput(taps.weights, t);
  }
  maps.push_back(map({0, 1, last}));
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  if (!isUnrolled)
    iterators[2] = utils::IteratorType::reduction;
  Value start = filled(
      node, element, isMax ? -std::numeric_limits<double>::infinity() : 0,
      result);
  auto generic = linalg::GenericOp::create(
      builder, node.loc(), TypeRange(start.getType()), inputs,
      ValueRange(start), maps, iterators,
      [&](OpBuilder &b, Location loc, ValueRange args) {
        size_t next = 0;
        SmallVector<Value> place = {
            linalg::IndexOp::create(b, loc, 0),
            linalg::IndexOp::create(b, loc, ofChannels)};
        if (batches)
          place[0] = arith::IndexCastOp::create(b, loc, b.getIndexType(),
                                                args[next++]);
        Value sum = args.back();
        for (int64_t t = 0; t < count; ++t) {
          Value at = args[next++];
          Value weight = taps.weights ? args[next++] : Value();
          Value part = readTap({b, loc}, x, place, at, weight, isLast);
          sum = isMax ? Value(arith::MaximumFOp::create(b, loc, sum, part))
                : taps.weights || !isUnrolled || count > 1
                    ? support::addScalars(b, loc, sum, part)
                    : part;
        }
        linalg::YieldOp::create(b, loc, sum);
      });
  Value y = generic.getResult(0);
  return isLast ? swapLast(node, y) : y;
}

LogicalResult legalize::requireSpatial(Node &node, Value x) {
  for (int64_t d = 2; d < typeOf(x).getRank(); ++d)
    if (failed(requireFit(node, nn::SizeRelation::atLeast, sizeOf(node, x, d),
                          sizeAttr(node, 1),
                          "dimension " + Twine(d) +
                              " of the data has {0} elements to sample")))
      return failure();
  return success();
}
