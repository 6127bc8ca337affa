//===- FastFourier.h - transforms of a length of the run --------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Discrete Fourier transforms in O(N log N) whose length N only a run knows.
//
// A power of two is transformed by Stockham's algorithm: passes of radix 8, 4
// and 2 from one buffer to another, which leave the points in order. The first
// one, of radix 8, leaves runs of eight points, so that all others are of whole
// vectors. Any other length goes through Bluestein's: with c[n] = e^(-πi n²/N),
//
//   y[k] = c[k] Σ (x[n] c[n]) conj(c[k - n])
//
// is a convolution, which two transforms of the next power of two from 2N - 1
// on compute. The spectrum of conj(c) is computed once for all transforms of an
// operator. n² is reduced modulo 2N before it becomes an angle. All of it is in
// f64, so that results of f32 are rounded once, as sums over all points were.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LEGALIZE_SIGNAL_FASTFOURIER_H
#define INGOT_PASSES_LEGALIZE_SIGNAL_FASTFOURIER_H

#include "passes/legalize/core/Helpers.h"

namespace ingot::legalize {

/// Where the points of lines are in a tensor of rank 1: point n of line i, for
/// i = outer I + inner, at outer `perOuter` + inner `perInner` + n `perPoint`.
/// The imaginary part of a complex point follows the real one.
struct Lines {
  Value perOuter, perInner, perPoint;
};

/// What is transformed: `outer` times `inner` lines of `inputs` points, behind
/// which there are zeros. Of each, the first `outputs` points are wanted.
struct LineTransforms {
  Value outer, inner;
  Lines from, to;
  Value inputs, outputs;
  Value length;
  bool inverse = false;
  /// Whether points have an imaginary part.
  bool readsComplex = true, writesComplex = true;
  /// What point n is multiplied by, or null.
  std::function<Value(mlir::OpBuilder &, mlir::Location, Value n)> weight;
};

/// The largest length: its square has to be an i64.
constexpr int64_t kMaxPoints = int64_t(1) << 31;

/// `results`, a tensor of rank 1, with the transforms of lines of `x`, which is
/// one, too. Both are of one type, f32 or f64. The length is in
/// [1, kMaxPoints].
Value transformLines(Node &node, Value x, Value results,
                     const LineTransforms &transforms);

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_SIGNAL_FASTFOURIER_H
