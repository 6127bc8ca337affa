//===- Resampling.h - positions and weights of resizing ---------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_RESAMPLING_H
#define INGOT_PASSES_SUPPORT_RESAMPLING_H

#include "passes/support/ScalarBuilder.h"

namespace ingot::support {

/// Mapping of result positions to operand positions.
struct Sampling {
  nn::ResizeMode mode = nn::ResizeMode::nearest;
  nn::Coordinates coordinates = nn::Coordinates::asymmetric;
  nn::NearestMode nearest = nn::NearestMode::floor;
  float cubicCoeff = -0.75f;
  bool excludeOutside = false;
};

/// A tap of a result element: an operand element along one dimension, and its
/// weight. The weight is null if there is only one tap.
struct Tap {
  Value position;
  Value weight;
};

/// A resampled dimension. The scale is f32, or f64 if positions are needed in
/// f64; the sizes are indices.
struct ResampledAxis {
  Value scale;
  Value size, resultSize;
  /// Start and end of the cropped part of the operand, as fractions of the
  /// dimension (f32). Null means the whole dimension.
  Value start = {}, end = {};
  /// True if the values above are computed at run time, so that positions may
  /// be anywhere.
  bool isComputed = false;
};

/// Returns how nn.resize maps positions, the axis for dimension `dim`, and
/// whether nn.resize only copies this dimension.
Sampling samplingOf(nn::ResizeOp op);
ResampledAxis axisOf(Scalars s, nn::ResizeOp op, int64_t dim,
                     OpFoldResult size, OpFoldResult resultSize);
bool isCopiedDim(nn::ResizeOp op, int64_t dim);

/// Returns the operand position of result position `at`, in the type of the
/// scale. A computed position is clamped to the neighbourhood of the operand,
/// so that it fits an integer.
Value positionOf(Scalars s, const Sampling &sampling, const ResampledAxis &axis,
                 Value at);
/// Returns the four cubic convolution weights at distance t past the second
/// tap.
SmallVector<Value> cubicWeights(Scalars s, Value t, double a);

/// Returns the number of operand elements per result element along one
/// dimension.
int64_t numTaps(nn::ResizeMode mode);

/// Returns the taps of result position `at`. Positions are in bounds.
SmallVector<Tap> tapsOf(Scalars s, const Sampling &sampling,
                        const ResampledAxis &axis, Value at);

} // namespace ingot::support

#endif // INGOT_PASSES_SUPPORT_RESAMPLING_H
