//===- Resize.h - Resize with computed sizes --------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LEGALIZE_VISION_RESIZE_H
#define INGOT_PASSES_LEGALIZE_VISION_RESIZE_H

#include "passes/legalize/core/Helpers.h"
#include "passes/support/Resampling.h"

namespace ingot::legalize {

/// A resized dimension. Null `start` and `end` mean no crop. Values are f32
/// scalars.
struct ResizedAxis {
  int64_t axis;
  OpFoldResult size;
  Value scale, start, end;
  /// The scale, if it is constant.
  std::optional<float> knownScale;
};

/// Range of the sizes that a node may ask for.
constexpr nn::Range kResizedSizes = {1, nn::kMostElements};

/// The way in which scales of several dimensions become one scale.
enum class AspectRatio { stretch, notLarger, notSmaller };

/// Creates a scalar f32 constant, not a tensor.
Value floatConstant(Node &node, float value);

/// Reads the sizes and scales of the dimensions `axes` of input 0, from input
/// `sizes` or `scales`, and from input `roi` if the node crops. Reports invalid
/// constants, and checks other values at run time.
FailureOr<SmallVector<ResizedAxis>>
readSizes(Node &node, size_t sizes, ArrayRef<int64_t> axes, AspectRatio policy);
FailureOr<SmallVector<ResizedAxis>>
readScales(Node &node, size_t scales, ArrayRef<int64_t> axes);
LogicalResult readRegion(Node &node, size_t roi, ArrayRef<int64_t> axes,
                         llvm::SmallVectorImpl<ResizedAxis> &resized);

/// Resizes a dimension of `from` elements to `to` with an antialiasing filter.
/// The result is a product with the constant matrix of weights.
FailureOr<Value> filterKnown(Node &node, const support::Sampling &sampling,
                             Value x, const ResizedAxis &axis, int64_t from,
                             int64_t to);

/// Replaces the node by nn.resize with sizes and scales computed at run time.
LogicalResult replaceByComputed(Node &node, const support::Sampling &sampling,
                                ArrayRef<ResizedAxis> axes);

/// Resizes input 0, one dimension after the other. With `antialias`, a
/// dimension that shrinks gets a filter. For a cropped part, the result is a
/// sum of gathered elements times weights.
FailureOr<Value> resizeComputed(Node &node, const support::Sampling &sampling,
                                ArrayRef<ResizedAxis> axes, bool antialias);

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_VISION_RESIZE_H
