//===- Resize.h - Resize whose sizes a run computes -------------*- C++ -*-===//
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

/// One dimension and what it becomes. What is null in `start` and `end` is not
/// cropped; all of these are scalars of type f32.
struct ResizedAxis {
  int64_t axis;
  OpFoldResult size;
  Value scale, start, end;
  /// The same where they are known.
  std::optional<float> knownScale;
};

/// What wanted sizes may be.
constexpr nn::Range kResizedSizes = {1, nn::kMostElements};

/// How scales of several dimensions become one.
enum class AspectRatio { stretch, notLarger, notSmaller };

/// An f32 constant of rank 0, no tensor.
Value floatConstant(Node &node, float value);

/// The dimensions `axes` of input 0 by input `sizes`, or `scales`, whichever is
/// given, and by `roi` where the node crops. Reports what cannot be, and
/// requires it of the run.
FailureOr<SmallVector<ResizedAxis>>
readSizes(Node &node, size_t sizes, ArrayRef<int64_t> axes, AspectRatio policy);
FailureOr<SmallVector<ResizedAxis>>
readScales(Node &node, size_t scales, ArrayRef<int64_t> axes);
LogicalResult readRegion(Node &node, size_t roi, ArrayRef<int64_t> axes,
                         llvm::SmallVectorImpl<ResizedAxis> &resized);

/// Makes a dimension of `from` elements one of `to`, each a weighted mean of
/// what it covers, by a product with the constant matrix of weights.
FailureOr<Value> filterKnown(Node &node, const support::Sampling &sampling,
                             Value x, const ResizedAxis &axis, int64_t from,
                             int64_t to);

/// Replaces the node by nn.resize with what a run computes.
LogicalResult replaceByComputed(Node &node, const support::Sampling &sampling,
                                ArrayRef<ResizedAxis> axes);

/// Resizes input 0, one dimension after the other. With `antialias` a result
/// where it shrinks is a weighted mean of what it covers. Parts of data are
/// sums of gathered elements times weights.
FailureOr<Value> resizeComputed(Node &node, const support::Sampling &sampling,
                                ArrayRef<ResizedAxis> axes, bool antialias);

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_VISION_RESIZE_H
