//===- ResizeComputed.cpp - Resize whose sizes a run computes ------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Also what nn.resize does not know: parts of the data, and filters that cover
// more elements than interpolation does.
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/Resize.h"
#include "passes/support/RunChecks.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

using lower::Sampling;

//===----------------------------------------------------------------------===//
// Sizes and scales
//===----------------------------------------------------------------------===//

Value legalize::floatConstant(Node &node, float value) {
  return lower::Scalars{node.builder, node.loc()}.f(value);
}

/// Element `at` of a tensor of floats as an f32.
static Value floatAt(Node &node, Value tensor, int64_t at) {
  Value wide = castTo(node, tensor, node.builder.getF32Type());
  Value index = arith::ConstantIndexOp::create(node.builder, node.loc(), at);
  return node.create<tensor::ExtractOp>(wide, ValueRange{index});
}

/// Nothing grows from nothing, and what is computed may be negative.
static void requireGrowth(Node &node, int64_t axis, OpFoldResult had,
                          OpFoldResult size) {
  if (getConstantIntValue(size) && getConstantIntValue(had))
    return;
  Indices i{node.builder, node.loc()};
  Value to = indexValue(node, size), from = indexValue(node, had);
  Value isKept = i.both(i.equal(from, i.n(0)), i.equal(to, i.n(0)));
  Value grows = i.both(i.less(i.n(0), from), i.less(i.n(-1), to));
  require(node.builder, node.loc(),
          arith::OrIOp::create(i.b, i.loc, isKept, grows),
          "dimension " + Twine(axis) +
              " of {0} elements cannot be resized to {1}",
          {from, to});
}

FailureOr<SmallVector<ResizedAxis>>
legalize::readSizes(Node &node, size_t input, ArrayRef<int64_t> axes,
                    AspectRatio policy) {
  auto wanted = elementsOf(node, node.input(input));
  if (failed(wanted))
    return failure();
  if (wanted->size() != axes.size())
    return node.badLength("sizes", wanted->size(), Twine(axes.size()));
  lower::Scalars s{node.builder, node.loc()};
  SmallVector<ResizedAxis> resized;
  Value common;
  for (auto [at, axis] : llvm::enumerate(axes)) {
    OpFoldResult size = (*wanted)[at],
                 had = sizeOf(node, node.input(0), axis);
    auto known = getConstantIntValue(size), from = getConstantIntValue(had);
    if (known && from != known && !kResizedSizes.contains(*known))
      return node.badElement("sizes", at, Twine(*known),
                             nn::describeRange(kResizedSizes));
    ResizedAxis one = {axis, size, {}, {}, {}, {}};
    requireGrowth(node, axis, had, size);
    if (isSameDim(size, had))
      one.knownScale = 1;
    else if (known && from && *from)
      one.knownScale = float(*known) / float(*from);
    one.scale = one.knownScale
                    ? floatConstant(node, *one.knownScale)
                    : s.div(s.toFloat(indexValue(node, size)),
                            s.toFloat(indexValue(node, had)));
    if (policy == AspectRatio::notSmaller)
      common = common ? Value(arith::MaximumFOp::create(s.b, s.loc, common,
                                                        one.scale))
                      : one.scale;
    else
      common = common ? Value(arith::MinimumFOp::create(s.b, s.loc, common,
                                                        one.scale))
                      : one.scale;
    resized.push_back(one);
  }
  if (policy == AspectRatio::stretch)
    return resized;
  for (ResizedAxis &one : resized) {
    OpFoldResult had = sizeOf(node, node.input(0), one.axis);
    Value from = s.toFloat(indexValue(node, had));
    Value rounded = s.floor(s.add(s.mul(common, from), s.f(0.5)));
    // A scale of nothing by nothing is no number.
    Value isNumber = arith::CmpFOp::create(s.b, s.loc,
                                           arith::CmpFPredicate::OLT, rounded,
                                           s.f(2147483648.0));
    Value held = arith::SelectOp::create(s.b, s.loc, isNumber, rounded, s.f(0));
    one.size = s.toIndex(held);
    one.scale = common;
    one.knownScale = {};
    requireGrowth(node, one.axis, had, one.size);
  }
  return resized;
}

FailureOr<SmallVector<ResizedAxis>>
legalize::readScales(Node &node, size_t input, ArrayRef<int64_t> axes) {
  RankedTensorType type = node.type(input);
  if (type.getRank() != 1 || type.isDynamicDim(0))
    return node.unsupported("a number of scales that only a run knows");
  if (type.getDimSize(0) != int64_t(axes.size()))
    return node.badLength("scales", type.getDimSize(0), Twine(axes.size()));
  auto constants = nn::getConstantDoubles(node.input(input));
  lower::Scalars s{node.builder, node.loc()};
  SmallVector<ResizedAxis> resized;
  for (auto [at, axis] : llvm::enumerate(axes)) {
    OpFoldResult had = sizeOf(node, node.input(0), axis);
    Value from = indexValue(node, had);
    ResizedAxis one = {axis, {}, {}, {}, {}, {}};
    if (constants) {
      float known = (*constants)[at];
      if (!(known > 0) || !std::isfinite(known))
        return node.badElement("scales", at, numberText(known),
                               "a positive number");
      one.knownScale = known;
      if (auto size = getConstantIntValue(had);
          size && std::floor(known * float(*size)) < 2147483648.0f)
        one.size = sizeAttr(node, std::floor(known * float(*size)));
    }
    one.scale = one.knownScale ? floatConstant(node, *one.knownScale)
                               : floatAt(node, node.input(input), at);
    if (!one.size) {
      Value scaled = s.floor(s.mul(one.scale, s.toFloat(from)));
      auto compare = [&](arith::CmpFPredicate predicate, Value a, double b) {
        return Value(
            arith::CmpFOp::create(s.b, s.loc, predicate, a, s.f(b)));
      };
      Indices i{node.builder, node.loc()};
      Value fits =
          i.both(compare(arith::CmpFPredicate::OGT, one.scale, 0),
                 compare(arith::CmpFPredicate::OLT, scaled, 2147483648.0));
      require(node.builder, node.loc(), fits,
              "element " + Twine(at) +
                  " of scales is no positive number, or leads to too many "
                  "elements of a dimension of {0}",
              from);
      Value held =
          arith::SelectOp::create(s.b, s.loc, fits, scaled, s.f(0));
      one.size = s.toIndex(held);
    }
    requireGrowth(node, axis, had, one.size);
    resized.push_back(one);
  }
  return resized;
}

LogicalResult legalize::readRegion(Node &node, size_t roi,
                                   ArrayRef<int64_t> axes,
                                   SmallVectorImpl<ResizedAxis> &resized) {
  int64_t count = axes.size();
  if (!node.has(roi) || node.rank(roi) != 1 ||
      node.shape(roi)[0] != 2 * count)
    return node.invalid("roi needs " + Twine(2 * count) +
                        " elements: starts and ends of the dimensions");
  for (auto [at, one] : llvm::enumerate(resized)) {
    one.start = floatAt(node, node.input(roi), at);
    one.end = floatAt(node, node.input(roi), at + count);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Interpolation
//===----------------------------------------------------------------------===//

namespace {

using ElementOf =
    llvm::function_ref<Value(OpBuilder &, Location, ValueRange)>;

/// One dimension after the other of `x`.
struct Resampler {
  Node &node;
  const Sampling &sampling;

  lower::ResampledAxis mappingOf(Value x, const ResizedAxis &axis);
  /// A vector along the resampled dimension.
  Value vectorOf(Type type, OpFoldResult size, ElementOf element) {
    return generate(node, type, {size}, element);
  }
  Value interpolate(Value x, const ResizedAxis &axis);
  FailureOr<Value> filter(Value x, const ResizedAxis &axis);
  FailureOr<Value> filterKnown(Value x, const ResizedAxis &axis, int64_t from,
                               int64_t to);
  Value isInside(Value x, const ResizedAxis &axis);
};

} // namespace

lower::ResampledAxis Resampler::mappingOf(Value x, const ResizedAxis &axis) {
  return {axis.scale,
          indexValue(node, sizeOf(node, x, axis.axis)),
          indexValue(node, axis.size),
          axis.start,
          axis.end,
          /*isComputed=*/true};
}

Value Resampler::interpolate(Value x, const ResizedAxis &axis) {
  lower::ResampledAxis mapping = mappingOf(x, axis);
  auto tapsAt = [&](OpBuilder &b, Location loc, ValueRange at) {
    return lower::tapsOf({b, loc}, sampling, mapping, at.front());
  };
  SmallVector<int64_t> trailing;
  for (int64_t i = axis.axis + 1; i < typeOf(x).getRank(); ++i)
    trailing.push_back(i - axis.axis);
  Type i64 = node.builder.getI64Type();
  Value sum;
  for (int64_t i = 0; i < lower::numTaps(sampling.mode); ++i) {
    Value positions = vectorOf(
        i64, axis.size, [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
          return arith::IndexCastOp::create(b, loc, i64,
                                            tapsAt(b, loc, at)[i].position);
        });
    Value part = node.make<nn::GatherOp>(x, positions, axis.axis);
    if (sampling.mode != nn::ResizeMode::nearest) {
      Value weights = vectorOf(
          node.builder.getF32Type(), axis.size,
          [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
            return tapsAt(b, loc, at)[i].weight;
          });
      part = binary<nn::MulOp>(node, part, unsqueeze(node, weights, trailing));
    }
    sum = sum ? binary<nn::AddOp>(node, sum, part) : part;
  }
  return sum;
}

/// Whether what a result position stands for lies in the data.
Value Resampler::isInside(Value x, const ResizedAxis &axis) {
  lower::ResampledAxis mapping = mappingOf(x, axis);
  return vectorOf(
      node.builder.getI1Type(), axis.size,
      [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        lower::Scalars s{b, loc};
        Value position = lower::positionOf(s, sampling, mapping, at.front());
        Value last = s.sub(s.toFloat(mapping.size), s.f(1));
        Value above = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGE,
                                            position, s.f(0));
        Value below = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLE,
                                            position, last);
        return arith::AndIOp::create(b, loc, above, below);
      });
}

//===----------------------------------------------------------------------===//
// Antialiasing
//===----------------------------------------------------------------------===//

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
FailureOr<Value> Resampler::filterKnown(Value x, const ResizedAxis &axis,
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
      int64_t at = int64_t(left) + k, held = std::clamp<int64_t>(at, 0, from - 1);
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

/// The same for a scale, or sizes, that only the run knows: weights (result,
/// taps), as many as a filter of the scale has, and the sum of what they weigh.
FailureOr<Value> Resampler::filter(Value x, const ResizedAxis &axis) {
  auto from = getConstantIntValue(sizeOf(node, x, axis.axis)),
       to = getConstantIntValue(axis.size);
  constexpr int64_t kMostWeights = int64_t(1) << 22;
  if (from && to && axis.knownScale && *from > 0 && *to > 0 &&
      *from <= kMostWeights / *to)
    return filterKnown(x, axis, *from, *to);
  lower::ResampledAxis mapping = mappingOf(x, axis);
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
  sizes[axis.axis] = axis.size;
  return reshape(node, sum.getResult(0), sizes);
}

//===----------------------------------------------------------------------===//
// All dimensions
//===----------------------------------------------------------------------===//

/// f32 numbers rounded into the range of an integer type.
static Value roundTo(Node &node, Value x, IntegerType type) {
  double low = type.isUnsigned() ? 0 : -std::ldexp(1.0, type.getWidth() - 1),
         high = std::ldexp(1.0, type.getWidth() - !type.isUnsigned()) - 1;
  Value rounded = node.make<nn::RoundOp>(x);
  return castTo(node,
                node.make<nn::ClampOp>(rounded,
                                       node.builder.getF64FloatAttr(low),
                                       node.builder.getF64FloatAttr(high)),
                type);
}

FailureOr<Value> legalize::resizeComputed(Node &node, const Sampling &sampling,
                                          ArrayRef<ResizedAxis> axes,
                                          bool antialias) {
  bool isNearest = sampling.mode == nn::ResizeMode::nearest;
  Type element = node.elementType(0);
  auto integer = dyn_cast<IntegerType>(element);
  Value x = node.input(0), y = x;
  if (!isNearest) {
    if (!isa<FloatType>(element) && !(integer && integer.getWidth() <= 16))
      return node.unsupported("interpolated numbers of that type");
    y = castTo(node, y, node.builder.getF32Type());
  }
  Resampler resampler{node, sampling};
  Value inside;
  for (const ResizedAxis &axis : axes) {
    OpFoldResult had = sizeOf(node, x, axis.axis);
    auto known = getConstantIntValue(axis.size);
    bool isKept = axis.knownScale == 1 &&
                  (isSameDim(axis.size, had) ||
                   (known && known == getConstantIntValue(had)));
    if (isKept && !axis.start)
      continue;
    if (axis.start) {
      SmallVector<int64_t> others;
      for (int64_t d = 0; d < typeOf(x).getRank(); ++d)
        if (d != axis.axis)
          others.push_back(d);
      Value here =
          unsqueeze(node, resampler.isInside(x, axis), others);
      inside = inside ? binary<nn::AndOp>(node, inside, here) : here;
    }
    bool mayShrink = !axis.knownScale || *axis.knownScale < 1;
    if (antialias && !isNearest && mayShrink && !axis.start) {
      auto filtered = resampler.filter(y, axis);
      if (failed(filtered))
        return failure();
      y = *filtered;
    } else {
      y = resampler.interpolate(y, axis);
    }
  }
  y = isNearest || !integer ? castTo(node, y, element)
                            : roundTo(node, y, integer);
  if (!inside)
    return y;
  return select(node, inside, y,
                scalar(node, element,
                       node.getFloat("extrapolation_value", 0)));
}
