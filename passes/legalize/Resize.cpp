//===- Resize.cpp - Resize, Upsample --------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/support/RunChecks.h"
#include "passes/legalize/Helpers.h"
#include "passes/support/Resampling.h"

#include <cmath>

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

using lower::Sampling;

static FailureOr<nn::ResizeMode> readMode(Node &node) {
  StringRef name = node.getString("mode", "nearest");
  auto mode = nn::symbolizeResizeMode(name == "bilinear" ? "linear" : name);
  if (!mode)
    return node.invalid("mode is " + name);
  return *mode;
}

/// One scale a dimension; the result's size follows from it unless stated.
static LogicalResult replaceByResize(Node &node, const Sampling &sampling,
                                     ArrayRef<float> scales,
                                     ArrayRef<int64_t> shape) {
  RankedTensorType x = node.type(0);
  for (auto [scale, size] : llvm::zip_equal(scales, shape)) {
    if (!ShapedType::isDynamic(size) && (size < 0 || size >= int64_t(1) << 31))
      return node.invalid("'scales' leads to a dimension of " +
                          (size < 0 ? std::string("too many")
                                    : std::to_string(size)) +
                          " elements");
  }
  for (auto [i, size] : llvm::enumerate(shape))
    if (size > 0 && x.getDimSize(i) == 0)
      return node.invalid("an empty dimension cannot grow");
  auto type = RankedTensorType::get(shape, x.getElementType());
  if (type == x && type.hasStaticShape() &&
      llvm::all_of(scales, [](float scale) { return scale == 1; }))
    return node.replace(node.input(0));
  return node.replace(node.create<nn::ResizeOp>(
      type, node.input(0), scales, sampling.mode, sampling.coordinates,
      sampling.nearest, llvm::APFloat(sampling.cubicCoeff),
      sampling.excludeOutside));
}

static SmallVector<int64_t> scaledShape(RankedTensorType x,
                                        ArrayRef<float> scales) {
  SmallVector<int64_t> shape;
  for (auto [size, scale] : llvm::zip_equal(x.getShape(), scales)) {
    float scaled = std::floor(scale * float(size));
    shape.push_back(ShapedType::isDynamic(size) ? size
                    : scaled >= 0 && scaled < 2147483648.0f ? int64_t(scaled)
                                                            : -1);
  }
  return shape;
}

static FailureOr<SmallVector<float>> readScales(Node &node, size_t input) {
  SmallVector<float> scales;
  if (auto floats = node.getFloats("scales"); floats && !node.has(input)) {
    scales = *floats;
  } else {
    auto values = nn::getConstantDoubles(node.input(input));
    if (!values)
      return node.unsupported("computed scales");
    scales.assign(values->begin(), values->end());
  }
  for (auto [i, scale] : llvm::enumerate(scales))
    if (!(scale > 0) || !std::isfinite(scale))
      return node.badElement("scales", i, numberText(scale),
                             "a positive number");
  return scales;
}

static LogicalResult legalizeUpsample(Node &node) {
  auto mode = readMode(node);
  auto scales = readScales(node, 1);
  if (failed(mode) || failed(scales))
    return failure();
  if (int64_t(scales->size()) != node.rank(0))
    return node.badLength("scales", scales->size(), Twine(node.rank(0)));
  Sampling sampling;
  sampling.mode = *mode;
  return replaceByResize(node, sampling, *scales,
                         scaledShape(node.type(0), *scales));
}

static FailureOr<Sampling> readSampling(Node &node) {
  auto mode = readMode(node);
  if (failed(mode))
    return failure();
  Sampling sampling;
  sampling.mode = *mode;
  if (node.opset < 11)
    return sampling;
  StringRef coordinates =
      node.getString("coordinate_transformation_mode", "half_pixel");
  auto known = nn::symbolizeCoordinates(coordinates);
  if (!known)
    return node.unsupported("coordinate_transformation_mode " + coordinates);
  StringRef nearest = node.getString("nearest_mode", "round_prefer_floor");
  auto rounding = nn::symbolizeNearestMode(nearest);
  if (!rounding)
    return node.invalid("nearest_mode is " + nearest);
  sampling.coordinates = *known;
  sampling.nearest = *rounding;
  sampling.cubicCoeff = node.getFloat("cubic_coeff_a", -0.75f);
  sampling.excludeOutside = node.getInt("exclude_outside", 0) != 0;
  return sampling;
}

/// What a wanted size may be.
static constexpr nn::Range kSizes = {1, nn::kMostElements};

/// Scales and result sizes from wanted sizes of some axes.
static LogicalResult scalesFromSizes(Node &node, ArrayRef<int64_t> wanted,
                                     ArrayRef<int64_t> axes,
                                     SmallVector<float> &scales,
                                     SmallVector<int64_t> &shape) {
  StringRef policy = node.getString("keep_aspect_ratio_policy", "stretch");
  bool larger = policy == "not_smaller";
  if (policy != "stretch" && policy != "not_larger" && !larger)
    return node.invalid("keep_aspect_ratio_policy is " + policy);
  RankedTensorType x = node.type(0);
  std::optional<float> common;
  for (auto [i, pair] : llvm::enumerate(llvm::zip_equal(axes, wanted))) {
    auto [axis, size] = pair;
    if (size == 0 && x.getDimSize(axis) == 0)
      continue;
    if (x.getDimSize(axis) < 1)
      return node.badElement("sizes", i, Twine(size),
                             "0 for a dimension without elements");
    if (!kSizes.contains(size))
      return node.badElement("sizes", i, Twine(size),
                             nn::describeRange(kSizes));
    float scale = float(size) / float(x.getDimSize(axis));
    scales[axis] = scale;
    shape[axis] = size;
    if (!common || (larger ? scale > *common : scale < *common))
      common = scale;
  }
  if (policy == "stretch" || !common)
    return success();
  for (int64_t axis : axes) {
    scales[axis] = *common;
    shape[axis] =
        int64_t(std::floor(*common * float(x.getDimSize(axis)) + 0.5f));
  }
  return success();
}

/// x with axis `axis` resampled to `size` elements, which a run computes: a sum
/// of gathered elements times weights.
static Value resample(Node &node, Value x, int64_t axis, OpFoldResult size,
                      const Sampling &sampling) {
  Value from = indexValue(node, sizeOf(node, x, axis));
  Value to = indexValue(node, size);
  lower::Scalars s{node.builder, node.loc()};
  lower::ResampledAxis mapping{s.div(s.toFloat(to), s.toFloat(from)), from, to};
  auto vectorOf = [&](Type type, auto element) {
    return generate(node, type, {size},
                    [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
                      lower::Scalars inside{b, loc};
                      return element(b, loc,
                                     lower::tapsOf(inside, sampling, mapping,
                                                   at.front()));
                    });
  };
  SmallVector<int64_t> trailing;
  for (int64_t i = axis + 1; i < typeOf(x).getRank(); ++i)
    trailing.push_back(i - axis);
  Value sum;
  for (int64_t i = 0; i < lower::numTaps(sampling.mode); ++i) {
    Value positions = vectorOf(
        node.builder.getI64Type(),
        [&](OpBuilder &b, Location loc, ArrayRef<lower::Tap> taps) -> Value {
          return arith::IndexCastOp::create(b, loc, b.getI64Type(),
                                            taps[i].position);
        });
    Value part = node.make<nn::GatherOp>(x, positions, axis);
    if (sampling.mode != nn::ResizeMode::nearest) {
      Value weights = vectorOf(
          node.builder.getF32Type(),
          [&](OpBuilder &, Location, ArrayRef<lower::Tap> taps) -> Value {
            return taps[i].weight;
          });
      part = binary<nn::MulOp>(node, part, unsqueeze(node, weights, trailing));
    }
    sum = sum ? binary<nn::AddOp>(node, sum, part) : part;
  }
  return sum;
}

/// A Resize to sizes that a run computes.
static LogicalResult legalizeComputedSizes(Node &node,
                                           const Sampling &sampling,
                                           ArrayRef<int64_t> axes) {
  if (node.getString("keep_aspect_ratio_policy", "stretch") != "stretch")
    return node.unsupported("computed sizes that keep the aspect ratio");
  if (sampling.coordinates == nn::Coordinates::half_pixel_symmetric)
    return node.unsupported("computed sizes with half_pixel_symmetric");
  auto wanted = elementsOf(node, node.input(3));
  if (failed(wanted))
    return failure();
  if (wanted->size() != axes.size())
    return node.badLength("sizes", wanted->size(), Twine(axes.size()));
  bool isNearest = sampling.mode == nn::ResizeMode::nearest;
  if (!isNearest && node.getInt("antialias", 0))
    return node.unsupported("antialias with computed sizes");
  Type element = node.elementType(0);
  Value y = node.input(0);
  if (!isNearest) {
    if (!isa<FloatType>(element))
      return node.unsupported("computed sizes for interpolated integers");
    y = castTo(node, y, node.builder.getF32Type());
  }
  for (auto [at, pair] : llvm::enumerate(llvm::zip_equal(axes, *wanted))) {
    auto [axis, size] = pair;
    OpFoldResult had = sizeOf(node, node.input(0), axis);
    auto known = getConstantIntValue(size);
    if (known && getConstantIntValue(had) != known &&
        !kSizes.contains(*known))
      return node.badElement("sizes", at, Twine(*known),
                             nn::describeRange(kSizes));
    if (isSameDim(size, had) || (known && getConstantIntValue(had) == known))
      continue;
    // What is computed may be negative, and nothing grows from nothing.
    if (!known || !getConstantIntValue(had)) {
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
    y = resample(node, y, axis, size, sampling);
  }
  return node.replace(castTo(node, y, element));
}

static LogicalResult legalizeResize(Node &node) {
  auto sampling = readSampling(node);
  if (failed(sampling))
    return failure();
  RankedTensorType x = node.type(0);
  int64_t rank = x.getRank();
  auto given = [&](size_t i) {
    return node.has(i) && !(node.type(i).hasStaticShape() &&
                            node.type(i).getNumElements() == 0);
  };
  SmallVector<int64_t> axisList = node.getInts("axes").value_or(
      llvm::to_vector(llvm::seq<int64_t>(0, rank)));
  auto axes = normalizeAxes(node, axisList, rank);
  if (failed(axes))
    return failure();
  SmallVector<float> scales(rank, 1);
  SmallVector<int64_t> shape(x.getShape());
  size_t scalesInput = node.opset < 11 ? 1 : 2;
  if (given(3)) {
    auto sizes = node.getConstantInts(3);
    RankedTensorType hint = node.resultHint(0);
    if (!sizes && hint && hint.hasStaticShape() && hint.getRank() == rank) {
      sizes = SmallVector<int64_t>();
      for (int64_t axis : *axes)
        sizes->push_back(hint.getDimSize(axis));
    }
    bool isKnown = sizes && llvm::none_of(*axes, [&](int64_t axis) {
      return x.isDynamicDim(axis);
    });
    if (!isKnown)
      return legalizeComputedSizes(node, *sampling, *axes);
    if (sizes->size() != axes->size())
      return node.badLength("sizes", sizes->size(), Twine(axes->size()));
    if (failed(scalesFromSizes(node, *sizes, *axes, scales, shape)))
      return failure();
  } else if (given(scalesInput)) {
    auto some = readScales(node, scalesInput);
    if (failed(some))
      return failure();
    if (some->size() != axes->size())
      return node.badLength("scales", some->size(), Twine(axes->size()));
    for (auto [axis, scale] : llvm::zip_equal(*axes, *some))
      scales[axis] = scale;
    shape = scaledShape(x, scales);
  } else {
    return node.invalid("neither scales nor sizes is given");
  }
  bool shrinks = llvm::any_of(scales, [](float scale) { return scale < 1; });
  if (node.getInt("antialias", 0) && shrinks &&
      sampling->mode != nn::ResizeMode::nearest)
    return node.unsupported("antialias when it shrinks");
  return replaceByResize(node, *sampling, scales, shape);
}

void legalize::populateResize(Legalizers &legalizers) {
  legalizers.add("Resize", legalizeResize);
  legalizers.add("Upsample", legalizeUpsample);
}
