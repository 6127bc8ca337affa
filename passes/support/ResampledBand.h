//===- ResampledBand.h - resampling as a band matrix ------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_RESAMPLEDBAND_H
#define INGOT_PASSES_SUPPORT_RESAMPLEDBAND_H

#include "passes/support/Resampling.h"

namespace ingot::support {

/// Rows `first`, `first + step`, … of a matrix.
struct TakenRows {
  int64_t first = 0, step = 1;
  OpFoldResult count;
};

/// A matrix with few nonzero elements per row, which are neighbours. `starts`
/// has the first column of each row. `weights` has one element per row and tap.
/// Columns of the last taps may be outside of the operand; their weights are 0.
struct ResampledBand {
  Value starts, weights;
};

/// Returns the reach of an interpolation: elements at a greater distance have
/// weight 0.
double reachOf(nn::ResizeMode mode);

/// Creates loops that compute the matrix of a resampled dimension at run time.
/// With `filters`, a dimension that shrinks is filtered (nn.resize
/// `antialias`). The number of taps is a multiple of `unit`.
ResampledBand makeResampledBand(const Scalars &scalars,
                                const Sampling &sampling,
                                const ResampledAxis &axis, bool filters,
                                int64_t unit, const TakenRows &rows);

} // namespace ingot::support

#endif // INGOT_PASSES_SUPPORT_RESAMPLEDBAND_H
