//===- ResampledBand.h - a resampled dimension as a matrix ------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_RESAMPLEDBAND_H
#define INGOT_PASSES_SUPPORT_RESAMPLEDBAND_H

#include "passes/support/Resampling.h"

namespace ingot::support {

/// Rows of a matrix, `first`, `first + step` and so on.
struct TakenRows {
  int64_t first = 0, step = 1;
  OpFoldResult count;
};

/// A matrix whose rows have few neighbouring elements that are not 0, as
/// tensors: the first column of each row, and the elements of as many columns
/// as there are taps. The columns of the last taps may lie behind the operand;
/// their elements are 0 then.
struct ResampledBand {
  Value starts, weights;
};

/// Returns the reach of an interpolation: elements further away from a position
/// do not count.
double reachOf(nn::ResizeMode mode);

/// Writes loops that compute the matrix of a resampled dimension in a run. With
/// `filters` a dimension that shrinks is filtered (nn.resize `antialias`). The
/// number of taps is a multiple of `unit`.
ResampledBand makeResampledBand(OpBuilder &b, Location loc,
                                const Sampling &sampling,
                                const ResampledAxis &axis, bool filters,
                                int64_t unit, const TakenRows &rows);

} // namespace ingot::support

#endif // INGOT_PASSES_SUPPORT_RESAMPLEDBAND_H
