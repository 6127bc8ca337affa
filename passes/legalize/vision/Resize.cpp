//===- Resize.cpp - Resize, Upsample --------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/vision/Resize.h"

#include <cmath>

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

using support::Sampling;

static FailureOr<nn::ResizeMode> readMode(Node &node) {
  StringRef name = node.getString("mode", "nearest");
  auto mode = nn::symbolizeResizeMode(name == "bilinear" ? "linear" : name);
  if (!mode)
    return node.invalid("mode is " + name);
  return *mode;
}

/// Replaces the node by nn.resize with one constant scale per dimension.
/// `shape` is the shape of the result.
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
      type, node.input(0), ValueRange(), ValueRange(), scales, sampling.mode,
      sampling.coordinates, sampling.nearest,
      llvm::APFloat(sampling.cubicCoeff), sampling.excludeOutside,
      /*antialias=*/false));
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

static bool isKnownScales(Node &node, size_t input) {
  return !node.has(input) || nn::getConstantDoubles(node.input(input));
}

static FailureOr<SmallVector<float>> readKnownScales(Node &node,
                                                     size_t input) {
  SmallVector<float> scales;
  if (auto floats = node.getFloats("scales"); floats && !node.has(input)) {
    scales = *floats;
  } else {
    auto values = nn::getConstantDoubles(node.input(input));
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
  if (failed(mode))
    return failure();
  Sampling sampling;
  sampling.mode = *mode;
  if (!isKnownScales(node, 1)) {
    auto axes = llvm::to_vector(llvm::seq<int64_t>(0, node.rank(0)));
    auto resized = readScales(node, 1, axes);
    if (failed(resized))
      return failure();
    return replaceByComputed(node, sampling, *resized);
  }
  auto scales = readKnownScales(node, 1);
  if (failed(scales))
    return failure();
  if (int64_t(scales->size()) != node.rank(0))
    return node.badLength("scales", scales->size(), Twine(node.rank(0)));
  return replaceByResize(node, sampling, *scales,
                         scaledShape(node.type(0), *scales));
}

/// Reads the attributes of a Resize. If `crops` is true, coordinates are
/// relative to a part of the data.
static FailureOr<Sampling> readSampling(Node &node, bool crops) {
  auto mode = readMode(node);
  if (failed(mode))
    return failure();
  Sampling sampling;
  sampling.mode = *mode;
  if (node.opset < 11)
    return sampling;
  StringRef coordinates =
      node.getString("coordinate_transformation_mode", "half_pixel");
  std::optional<nn::Coordinates> known =
      crops ? nn::Coordinates::align_corners
            : nn::symbolizeCoordinates(coordinates);
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

static FailureOr<AspectRatio> readPolicy(Node &node) {
  StringRef policy = node.getString("keep_aspect_ratio_policy", "stretch");
  if (policy == "stretch")
    return AspectRatio::stretch;
  if (policy == "not_larger")
    return AspectRatio::notLarger;
  if (policy == "not_smaller")
    return AspectRatio::notSmaller;
  return node.invalid("keep_aspect_ratio_policy is " + policy);
}

/// Computes scales and result sizes from the wanted sizes of some axes.
static LogicalResult scalesFromSizes(Node &node, ArrayRef<int64_t> wanted,
                                     ArrayRef<int64_t> axes,
                                     SmallVector<float> &scales,
                                     SmallVector<int64_t> &shape) {
  auto policy = readPolicy(node);
  if (failed(policy))
    return failure();
  bool larger = *policy == AspectRatio::notSmaller;
  RankedTensorType x = node.type(0);
  std::optional<float> common;
  for (auto [i, pair] : llvm::enumerate(llvm::zip_equal(axes, wanted))) {
    auto [axis, size] = pair;
    if (size == 0 && x.getDimSize(axis) == 0)
      continue;
    if (x.getDimSize(axis) < 1)
      return node.badElement("sizes", i, Twine(size),
                             "0 for a dimension without elements");
    if (!kResizedSizes.contains(size))
      return node.badElement("sizes", i, Twine(size),
                             nn::describeRange(kResizedSizes));
    float scale = float(size) / float(x.getDimSize(axis));
    scales[axis] = scale;
    shape[axis] = size;
    if (!common || (larger ? scale > *common : scale < *common))
      common = scale;
  }
  if (*policy == AspectRatio::stretch || !common)
    return success();
  for (int64_t axis : axes) {
    scales[axis] = *common;
    shape[axis] =
        int64_t(std::floor(*common * float(x.getDimSize(axis)) + 0.5f));
  }
  return success();
}

/// Legalizes sizes that are computed at run time, crops and antialiasing
/// filters.
static LogicalResult legalizeGeneral(Node &node, const Sampling &sampling,
                                     ArrayRef<int64_t> axes, size_t scales,
                                     bool hasSizes, bool crops) {
  auto policy = readPolicy(node);
  if (failed(policy))
    return failure();
  auto resized = hasSizes ? readSizes(node, 3, axes, *policy)
                          : readScales(node, scales, axes);
  if (failed(resized) ||
      (crops && failed(readRegion(node, 1, axes, *resized))))
    return failure();
  bool antialias = node.getInt("antialias", 0) != 0;
  if (crops && antialias && sampling.mode != nn::ResizeMode::nearest)
    return node.unsupported("antialias of tf_crop_and_resize; crop by a Slice, "
                            "or leave antialias out");
  if (!crops && !(antialias && sampling.mode != nn::ResizeMode::nearest))
    return replaceByComputed(node, sampling, *resized);
  auto y = resizeComputed(node, sampling, *resized, antialias);
  return failed(y) ? failure() : node.replace(*y);
}

static LogicalResult legalizeResize(Node &node) {
  bool crops = node.opset >= 11 &&
               node.getString("coordinate_transformation_mode", "") ==
                   "tf_crop_and_resize";
  auto sampling = readSampling(node, crops);
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
  bool hasSizes = given(3), isKnown = !crops;
  if (hasSizes) {
    auto sizes = node.getConstantInts(3);
    RankedTensorType hint = node.resultHint(0);
    if (!sizes && hint && hint.hasStaticShape() && hint.getRank() == rank &&
        !node.hasAttr("keep_aspect_ratio_policy")) {
      sizes = SmallVector<int64_t>();
      for (int64_t axis : *axes)
        sizes->push_back(hint.getDimSize(axis));
    }
    isKnown &= sizes && llvm::none_of(*axes, [&](int64_t axis) {
      return x.isDynamicDim(axis);
    });
    if (isKnown) {
      if (sizes->size() != axes->size())
        return node.badLength("sizes", sizes->size(), Twine(axes->size()));
      if (failed(scalesFromSizes(node, *sizes, *axes, scales, shape)))
        return failure();
    }
  } else if (given(scalesInput) || node.hasAttr("scales")) {
    isKnown &= isKnownScales(node, scalesInput);
    if (isKnown) {
      auto some = readKnownScales(node, scalesInput);
      if (failed(some))
        return failure();
      if (some->size() != axes->size())
        return node.badLength("scales", some->size(), Twine(axes->size()));
      for (auto [axis, scale] : llvm::zip_equal(*axes, *some))
        scales[axis] = scale;
      shape = scaledShape(x, scales);
    }
  } else {
    return node.invalid("neither scales nor sizes is given");
  }
  bool shrinks = llvm::any_of(scales, [](float scale) { return scale < 1; });
  bool filters = node.getInt("antialias", 0) && shrinks &&
                 sampling->mode != nn::ResizeMode::nearest;
  if (!isKnown || filters)
    return legalizeGeneral(node, *sampling, *axes, scalesInput, hasSizes,
                           crops);
  return replaceByResize(node, *sampling, scales, shape);
}

void legalize::populateResize(Legalizers &legalizers) {
  legalizers.add("Resize", legalizeResize);
  legalizers.add("Upsample", legalizeUpsample);
}
