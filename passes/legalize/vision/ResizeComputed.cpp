//===- ResizeComputed.cpp - Resize with computed sizes --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Legalizes Resize with sizes or scales that are computed at run time. Crops
// are gathers, because nn.resize does not support crops.
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/vision/Resize.h"
#include "passes/support/RunChecks.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;
using namespace ingot::support;

using support::Sampling;

//===----------------------------------------------------------------------===//
// Sizes and scales
//===----------------------------------------------------------------------===//

Value legalize::floatConstant(Node &node, float value) {
  return support::Scalars{node.builder, node.loc()}.f(value);
}

/// Returns element `at` of a tensor of floats as an f32.
static Value floatAt(Node &node, Value tensor, int64_t at) {
  Value wide = castTo(node, tensor, node.builder.getF32Type());
  Value index = arith::ConstantIndexOp::create(node.builder, node.loc(), at);
  return node.create<tensor::ExtractOp>(wide, ValueRange{index});
}

/// Requires that an empty dimension stays empty, and that another dimension has
/// at least `least` elements afterwards.
static void requireGrowth(Node &node, int64_t axis, OpFoldResult had,
                          OpFoldResult size, int64_t least) {
  if (getConstantIntValue(size) && getConstantIntValue(had))
    return;
  Indices i{node.builder, node.loc()};
  Value to = indexValue(node, size), from = indexValue(node, had);
  Value isKept = i.both(i.equal(from, i.n(0)), i.equal(to, i.n(0)));
  Value grows = i.both(i.less(i.n(0), from), i.less(i.n(least - 1), to));
  require(node.builder, node.loc(),
          arith::OrIOp::create(i.b, i.loc, isKept, grows),
          "dimension " + Twine(axis) +
              " of {0} elements cannot be resized to {1}",
          {from, to});
}

FailureOr<SmallVector<ResizedAxis>>
legalize::readSizes(Node &node, size_t input, ArrayRef<int64_t> axes,
                    AspectRatio policy) {
  pinInput(node, input, {int64_t(axes.size())}, "sizes");
  auto wanted = elementsOf(node, node.input(input));
  if (failed(wanted))
    return failure();
  if (wanted->size() != axes.size())
    return node.badLength("sizes", wanted->size(), Twine(axes.size()));
  support::Scalars s{node.builder, node.loc()};
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
    requireGrowth(node, axis, had, size, kResizedSizes.low);
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
    // The scale of an empty dimension is NaN.
    Value isNumber = arith::CmpFOp::create(s.b, s.loc,
                                           arith::CmpFPredicate::OLT, rounded,
                                           s.f(2147483648.0));
    Value held = arith::SelectOp::create(s.b, s.loc, isNumber, rounded, s.f(0));
    one.size = s.toIndex(held);
    one.scale = common;
    one.knownScale = {};
    requireGrowth(node, one.axis, had, one.size, /*least=*/0);
  }
  return resized;
}

FailureOr<SmallVector<ResizedAxis>>
legalize::readScales(Node &node, size_t input, ArrayRef<int64_t> axes) {
  pinInput(node, input, {int64_t(axes.size())}, "scales");
  RankedTensorType type = node.type(input);
  if (type.getRank() != 1)
    return node.invalid("scales have rank " + Twine(type.getRank()) +
                        ", but must have rank 1");
  if (type.getDimSize(0) != int64_t(axes.size()))
    return node.badLength("scales", type.getDimSize(0), Twine(axes.size()));
  auto constants = nn::getConstantDoubles(node.input(input));
  support::Scalars s{node.builder, node.loc()};
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
                  " of scales is not a positive number, or leads to too many "
                  "elements of a dimension of {0}",
              from);
      Value held =
          arith::SelectOp::create(s.b, s.loc, fits, scaled, s.f(0));
      one.size = s.toIndex(held);
    }
    requireGrowth(node, axis, had, one.size, /*least=*/0);
    resized.push_back(one);
  }
  return resized;
}

LogicalResult legalize::readRegion(Node &node, size_t roi,
                                   ArrayRef<int64_t> axes,
                                   SmallVectorImpl<ResizedAxis> &resized) {
  int64_t count = axes.size();
  pinInput(node, roi, {2 * count}, "roi");
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

/// Resamples dimensions of `x`, one after the other.
struct Resampler {
  Node &node;
  const Sampling &sampling;

  /// Creates a vector along the resampled dimension.
  Value vectorOf(Type type, OpFoldResult size, ElementOf element) {
    return generate(node, type, {size}, element);
  }
  Value interpolate(Value x, const ResizedAxis &axis);
  Value isInside(Value x, const ResizedAxis &axis);
};

} // namespace

/// Returns the mapping of positions along a dimension of x.
static support::ResampledAxis mappingOf(Node &node, Value x,
                                        const ResizedAxis &axis) {
  return {axis.scale,
          indexValue(node, sizeOf(node, x, axis.axis)),
          indexValue(node, axis.size),
          axis.start,
          axis.end,
          /*isComputed=*/true};
}

Value Resampler::interpolate(Value x, const ResizedAxis &axis) {
  support::ResampledAxis mapping = mappingOf(node, x, axis);
  auto tapsAt = [&](OpBuilder &b, Location loc, ValueRange at) {
    return support::tapsOf({b, loc}, sampling, mapping, at.front());
  };
  SmallVector<int64_t> trailing;
  for (int64_t i = axis.axis + 1; i < typeOf(x).getRank(); ++i)
    trailing.push_back(i - axis.axis);
  Type i64 = node.builder.getI64Type();
  Value sum;
  for (int64_t i = 0; i < support::numTaps(sampling.mode); ++i) {
    Value positions = vectorOf(
        i64, axis.size,
        [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
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

/// Returns true for each result position that maps into the data.
Value Resampler::isInside(Value x, const ResizedAxis &axis) {
  support::ResampledAxis mapping = mappingOf(node, x, axis);
  return vectorOf(
      node.builder.getI1Type(), axis.size,
      [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        support::Scalars s{b, loc};
        Value position = support::positionOf(s, sampling, mapping, at.front());
        Value last = s.sub(s.toFloat(mapping.size), s.f(1));
        Value above = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGE,
                                            position, s.f(0));
        Value below = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLE,
                                            position, last);
        return arith::AndIOp::create(b, loc, above, below);
      });
}

//===----------------------------------------------------------------------===//
// All dimensions
//===----------------------------------------------------------------------===//

/// Rounds f32 values and clamps them to the range of an integer type.
static Value roundTo(Node &node, Value x, IntegerType type) {
  double low = type.isUnsigned() ? 0 : -std::ldexp(1.0, type.getWidth() - 1),
         high = std::ldexp(1.0, type.getWidth() - !type.isUnsigned()) - 1;
  Value rounded = node.make<nn::RoundOp>(x);
  Value clipped = node.make<nn::ClampOp>(rounded,
                                         node.builder.getF64FloatAttr(low),
                                         node.builder.getF64FloatAttr(high));
  return node.make<nn::CastOp>(typeOf(x).clone(type), clipped,
                               /*in_range=*/true);
}

/// Returns true if elements of that type can be interpolated.
static bool isInterpolated(Type element) {
  auto integer = dyn_cast<IntegerType>(element);
  return isa<FloatType>(element) || (integer && integer.getWidth() <= 16);
}

/// Returns nn.resize of the axes of `x`.
static Value resizeAxes(Node &node, const Sampling &sampling, Value x,
                        ArrayRef<ResizedAxis> axes, bool antialias) {
  RankedTensorType type = typeOf(x);
  SmallVector<float> scales(type.getRank(), 1);
  SmallVector<int64_t> shape(type.getShape());
  SmallVector<const ResizedAxis *> computed(type.getRank(), nullptr);
  for (const ResizedAxis &axis : axes) {
    scales[axis.axis] = axis.knownScale.value_or(0);
    shape[axis.axis] =
        getConstantIntValue(axis.size).value_or(ShapedType::kDynamic);
    if (!axis.knownScale)
      computed[axis.axis] = &axis;
  }
  SmallVector<Value> sizes, factors;
  for (const ResizedAxis *axis : computed)
    if (axis) {
      sizes.push_back(indexValue(node, axis->size));
      factors.push_back(axis->scale);
    }
  return node.create<nn::ResizeOp>(
      type.clone(shape), x, sizes, factors, scales, sampling.mode,
      sampling.coordinates, sampling.nearest,
      llvm::APFloat(sampling.cubicCoeff), sampling.excludeOutside, antialias);
}

LogicalResult legalize::replaceByComputed(Node &node, const Sampling &sampling,
                                          ArrayRef<ResizedAxis> axes) {
  if (sampling.mode != nn::ResizeMode::nearest &&
      !isInterpolated(node.elementType(0)))
    return node.unsupported("interpolated numbers of that type");
  return node.replace(resizeAxes(node, sampling, node.input(0), axes,
                                 /*antialias=*/false));
}

/// Resizes a dimension of `x`, with a filter if it shrinks.
static FailureOr<Value> filterAxis(Node &node, const Sampling &sampling,
                                   Value x, const ResizedAxis &axis) {
  bool mayShrink = !axis.knownScale || *axis.knownScale < 1;
  auto from = getConstantIntValue(sizeOf(node, x, axis.axis)),
       to = getConstantIntValue(axis.size);
  constexpr int64_t kMaxWeights = int64_t(1) << 22;
  if (mayShrink && from && to && axis.knownScale && *from > 0 && *to > 0 &&
      *from <= kMaxWeights / *to)
    return filterKnown(node, sampling, x, axis, *from, *to);
  return resizeAxes(node, sampling, x, axis, mayShrink);
}

FailureOr<Value> legalize::resizeComputed(Node &node, const Sampling &sampling,
                                          ArrayRef<ResizedAxis> axes,
                                          bool antialias) {
  bool isNearest = sampling.mode == nn::ResizeMode::nearest;
  Type element = node.elementType(0);
  auto integer = dyn_cast<IntegerType>(element);
  Value x = node.input(0), y = x;
  if (!isNearest) {
    if (!isInterpolated(element))
      return node.unsupported("interpolated numbers of that type");
    y = castTo(node, y, node.builder.getF32Type());
  }
  Resampler resampler{node, sampling};
  Value inside;
  // Dimensions that keep their size come last. The others usually shrink, and
  // leave fewer elements to compute.
  SmallVector<ResizedAxis> ordered(axes);
  llvm::stable_sort(ordered, [](const ResizedAxis &a, const ResizedAxis &b) {
    return a.knownScale != 1 && b.knownScale == 1;
  });
  for (const ResizedAxis &axis : ordered) {
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
    if (antialias && !isNearest) {
      auto filtered = filterAxis(node, sampling, y, axis);
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
