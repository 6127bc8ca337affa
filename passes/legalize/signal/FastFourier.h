//===- FastFourier.h - Fourier transforms of dynamic length -----*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declares discrete Fourier transforms in O(N log N) of a length N that is
// known at run time only.
//
// Stockham's algorithm transforms a power of two. Its steps of radix 8, 4 and 2
// go from one buffer to another and leave the points in order. The first step
// has radix 8 and leaves runs of eight points, so that all other steps work on
// whole vectors. Bluestein's algorithm transforms any other length. With c[n] =
// e^(-πi n²/N),
//
//     y[k] = c[k] Σ (x[n] c[n]) conj(c[k - n])
//
// is a convolution. Two transforms of the next power of two from 2N - 1 on
// compute it. The spectrum of conj(c) is computed once for all transforms of an
// operator. n² is reduced modulo 2N before it becomes an angle. All arithmetic
// is in f64, so that f32 results are rounded only once.
//
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LEGALIZE_SIGNAL_FASTFOURIER_H
#define INGOT_PASSES_LEGALIZE_SIGNAL_FASTFOURIER_H

#include "passes/legalize/core/Helpers.h"

namespace ingot::legalize {

/// Strides of lines in a tensor of rank 1. For i = outer I + inner, point n of
/// line i is at outer `perOuter` + inner `perInner` + n `perPoint`. The
/// imaginary part of a complex point follows the real part.
struct Lines {
  Value perOuter, perInner, perPoint;
};

/// The transforms: `outer` times `inner` lines of `inputs` points, padded with
/// zeros to `length`. Each transform gives its first `outputs` points.
struct LineTransforms {
  Value outer, inner;
  Lines from, to;
  Value inputs, outputs;
  Value length;
  bool inverse = false;
  /// True if points have an imaginary part.
  bool readsComplex = true, writesComplex = true;
  /// Returns the factor for input point n. May be null.
  std::function<Value(mlir::OpBuilder &, mlir::Location, Value n)> weight;
};

/// The largest length. Its square must fit an i64.
constexpr int64_t kMaxPoints = int64_t(1) << 31;

/// Transforms the lines of `x` into `results`. Both are tensors of rank 1 and
/// of one type, f32 or f64. The length is in [1, kMostPoints].
Value transformLines(Node &node, Value x, Value results,
                     const LineTransforms &transforms);

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_SIGNAL_FASTFOURIER_H
