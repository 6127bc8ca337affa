//===- ResizeFilter.cpp - antialiasing of Resize -------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/Resize.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

using lower::Sampling;

/// How far from its position a result reads at most, where scaled by one.
static double reachOf(nn::ResizeMode mode) {
  return mode == nn::ResizeMode::linear ? 1 : 2;
}

static double weightAt(const Sampling &sampling, double x) {
  x = std::abs(x);
  if (sampling.mode == nn::ResizeMode::linear)
    return std::max(0.0, 1 - x);
  double a = sampling.cubicCoeff;
  if (x <= 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

static double positionAt(nn::Coordinates coordinates, double scale,
                         int64_t from, int64_t to, int64_t at) {
  switch (coordinates) {
  case nn::Coordinates::half_pixel:
    return (at + 0.5) / scale - 0.5;
  case nn::Coordinates::half_pixel_symmetric: {
    double adjustment = to / (from * scale);
    return from / 2.0 * (1 - adjustment) + (at + 0.5) / scale - 0.5;
  }
  case nn::Coordinates::pytorch_half_pixel:
    return to > 1 ? (at + 0.5) / scale - 0.5 : 0;
  case nn::Coordinates::align_corners:
    return to > 1 ? double(at) * (from - 1) / (to - 1) : 0;
  case nn::Coordinates::asymmetric:
    return at / scale;
  }
  return at;
}

/// A product with the constant matrix of weights.
static FailureOr<Value> filterKnown(Node &node, const Sampling &sampling,
                                    Value x, const ResizedAxis &axis,
                                    int64_t from, int64_t to) {
  double scale = *axis.knownScale, narrow = std::min(scale, 1.0);
  std::vector<double> weights(to * from, 0);
  for (int64_t o = 0; o < to; ++o) {
    double position =
        positionAt(sampling.coordinates, scale, from, to, o);
    double left = std::ceil(position) - 1, total = 0;
    int64_t first = std::floor(-reachOf(sampling.mode) / narrow) + 1;
    double *row = &weights[o * from];
    for (int64_t k = first; k <= 1 - first; ++k) {
      int64_t at = int64_t(left) + k,
              held = std::clamp<int64_t>(at, 0, from - 1);
      if (sampling.excludeOutside && at != held)
        continue;
      double weight = weightAt(sampling, (at - position) * narrow);
      row[held] += weight;
      total += weight;
    }
    for (int64_t i = 0; i < from; ++i)
      row[i] /= total;
  }
  Value matrix = nn::makeConstant(
      node.builder, node.loc(),
      RankedTensorType::get({to, from}, node.builder.getF32Type()), weights);
  Sizes sizes = sizesOf(node, x);
  bool isLast = axis.axis + 1 == int64_t(sizes.size());
  OpFoldResult outer = sizeAttr(node, 1), inner = outer;
  for (auto [d, size] : llvm::enumerate(sizes))
    if (int64_t(d) != axis.axis)
      (int64_t(d) < axis.axis ? outer : inner) =
          mulSizes(node, int64_t(d) < axis.axis ? outer : inner, size);
  FailureOr<Value> y = failure();
  if (isLast)
    y = node.infer<nn::MatMulOp>(
        reshape(node, x, {outer, sizeAttr(node, from)}), matrix, Value(), false,
        /*transpose_b=*/true);
  else
    y = node.infer<nn::MatMulOp>(
        matrix, reshape(node, x, {outer, sizeAttr(node, from), inner}),
        Value(), false, false);
  if (failed(y))
    return failure();
  sizes[axis.axis] = sizeAttr(node, to);
  return reshape(node, *y, sizes);
}

// Where only the run knows scale or sizes: weights (result, taps), as many as a
// filter of the scale has, and the sum of what they weigh.
FailureOr<Value> legalize::filterAxis(Node &node, const Sampling &sampling,
                                      Value x, const ResizedAxis &axis) {
  auto from = getConstantIntValue(sizeOf(node, x, axis.axis)),
       to = getConstantIntValue(axis.size);
  constexpr int64_t kMostWeights = int64_t(1) << 22;
  if (from && to && axis.knownScale && *from > 0 && *to > 0 &&
      *from <= kMostWeights / *to)
    return filterKnown(node, sampling, x, axis, *from, *to);
  lower::ResampledAxis mapping = mappingOf(node, x, axis);
  lower::Scalars s{node.builder, node.loc()};
  // The smallest scale that leaves an element of all; the filter is no wider.
  Value least = s.div(
      s.f(1), arith::MaximumFOp::create(s.b, s.loc, s.toFloat(mapping.size),
                                        s.f(1)));
  Value narrow = arith::MaxNumFOp::create(
      s.b, s.loc, arith::MinNumFOp::create(s.b, s.loc, axis.scale, s.f(1)),
      least);
  Value first = s.add(
      s.toIndex(s.floor(s.div(s.f(-reachOf(sampling.mode)), narrow))), s.n(1));
  Value taps = s.sub(s.n(2), s.add(first, first));
  Type i64 = node.builder.getI64Type(), f32 = node.builder.getF32Type();
  auto leftOf = [&](lower::Scalars s, ValueRange at, Value &position) {
    position = lower::positionOf(s, sampling, mapping, at[0]);
    Value left = s.sub(s.toIndex(s.ceil(position)), s.n(1));
    return s.add(left, s.add(first, at[1]));
  };
  Value positions = generate(
      node, i64, {axis.size, taps},
      [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        lower::Scalars s{b, loc};
        Value position;
        Value held = s.clamp(leftOf(s, at, position), s.n(0),
                             s.sub(mapping.size, s.n(1)));
        return arith::IndexCastOp::create(b, loc, i64, held);
      });
  Value weights = generate(
      node, f32, {axis.size, taps},
      [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        lower::Scalars s{b, loc};
        Value position, tap = leftOf(s, at, position);
        Value x = math::AbsFOp::create(
            b, loc, s.mul(s.sub(s.toFloat(tap), position), narrow));
        Value weight;
        if (sampling.mode == nn::ResizeMode::linear) {
          weight = arith::MaximumFOp::create(b, loc, s.sub(s.f(1), x), s.f(0));
        } else {
          double a = sampling.cubicCoeff;
          Value square = s.mul(x, x);
          Value inner = s.add(
              s.mul(s.sub(s.mul(s.f(a + 2), x), s.f(a + 3)), square), s.f(1));
          Value outer = s.sub(s.mul(s.f(a), x), s.f(5 * a));
          outer = s.add(s.mul(outer, x), s.f(8 * a));
          outer = s.sub(s.mul(outer, x), s.f(4 * a));
          auto below = [&](double limit) {
            return Value(arith::CmpFOp::create(
                b, loc, arith::CmpFPredicate::OLT, x, s.f(limit)));
          };
          weight = arith::SelectOp::create(
              b, loc, below(1), inner,
              arith::SelectOp::create(b, loc, below(2), outer, s.f(0)));
        }
        if (!sampling.excludeOutside)
          return weight;
        Value held = s.clamp(tap, s.n(0), s.sub(mapping.size, s.n(1)));
        return s.choose(arith::CmpIPredicate::eq, tap, held, weight, s.f(0));
      });
  Value total = node.create<nn::ReduceOp>(weights, nn::ReduceKind::sum,
                                          ArrayRef<int64_t>{1},
                                          /*keep_dims=*/true);
  auto shares = node.infer<nn::DivOp>(weights, total);
  if (failed(shares))
    return failure();

  Sizes sizes = sizesOf(node, x);
  OpFoldResult outer = sizeAttr(node, 1), inner = outer;
  for (auto [d, size] : llvm::enumerate(sizes))
    if (int64_t(d) != axis.axis)
      (int64_t(d) < axis.axis ? outer : inner) =
          mulSizes(node, int64_t(d) < axis.axis ? outer : inner, size);
  Value rows = reshape(node, x, {outer, sizes[axis.axis], inner});
  // Few elements behind the dimension fill no vectors; those of all rows do.
  constexpr int64_t kFewElements = 16;
  std::optional<int64_t> behind = getConstantIntValue(inner),
                         before = getConstantIntValue(outer);
  bool isTurned = behind && *behind < kFewElements && before != 1;
  Sizes picture = {outer, axis.size, inner};
  if (isTurned) {
    rows = transpose(node, rows, {1, 0, 2});
    inner = mulSizes(node, outer, inner);
    outer = sizeAttr(node, 1);
    rows = reshape(node, rows, {outer, sizes[axis.axis], inner});
  }
  Sizes result = {outer, axis.size, inner};
  OpBuilder &builder = node.builder;
  // (outer, result, taps, inner): runs of the inner dimension are vectors.
  auto map = [&](ArrayRef<unsigned> dims) {
    SmallVector<AffineExpr> exprs;
    for (unsigned d : dims)
      exprs.push_back(builder.getAffineDimExpr(d));
    return AffineMap::get(4, 0, exprs, node.context());
  };
  SmallVector<AffineMap> maps = {map({1, 2}), map({1, 2}), map({0, 1, 3})};
  SmallVector<utils::IteratorType> iterators(4, utils::IteratorType::parallel);
  iterators[2] = utils::IteratorType::reduction;
  Value zero = filled(node, f32, 0, result);
  auto sum = linalg::GenericOp::create(
      builder, node.loc(), TypeRange(zero.getType()),
      ValueRange{positions, *shares}, ValueRange(zero), maps, iterators,
      [&](OpBuilder &b, Location loc, ValueRange args) {
        Value at = arith::IndexCastOp::create(b, loc, b.getIndexType(),
                                              args[0]);
        Value element = tensor::ExtractOp::create(
            b, loc, rows,
            ValueRange{linalg::IndexOp::create(b, loc, 0), at,
                       linalg::IndexOp::create(b, loc, 3)});
        Value part = arith::MulFOp::create(b, loc, element, args[1]);
        Value all = arith::AddFOp::create(b, loc, args[2], part);
        linalg::YieldOp::create(b, loc, all);
      });
  Value y = sum.getResult(0);
  if (isTurned)
    y = transpose(node, reshape(node, y, {picture[1], picture[0], picture[2]}),
                  {1, 0, 2});
  sizes[axis.axis] = axis.size;
  return reshape(node, y, sizes);
}
