//===- Winograd.h - Winograd transforms -------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Transforms of Winograd convolution with filters of 3 taps: m outputs take m +
// 2 products instead of 3 m. Polynomials are evaluated at m + 1 points and at
// infinity, multiplied there, and interpolated. In two dimensions rows and
// columns are transformed, and (m + 2)² products give m² outputs. Sources:
// Winograd, Arithmetic Complexity of Computations, 1980; Lavin and Gray, Fast
// Algorithms for Convolutional Neural Networks, 2016.
//
// The points are 0 and pairs of p and -p, which share the sums of even and odd
// coefficients. For m = 4, p is the root of 1/2 and the root of 2. Their powers
// are small and their differences are not, so the error is twice that of the
// direct convolution. With 1 and 2 it would be five times as large. The error
// for m = 2 is smaller than that of the direct convolution.
//
// For bytes the points are 1 and 2, and filters and outputs are not divided, so
// all values are integers. Outputs are too large by a factor of 4 or 64 · 9.
// The power of two costs that many bits of the 32-bit sum. The factor 9 is
// divided modulo 2^32 without a remainder.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_CPU_WINOGRAD_H
#define INGOT_DIALECTS_CPU_WINOGRAD_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace ingot::cpu {

/// The transforms of one dimension. Among the `points()` points, the first is 0
/// and the last is infinity. Between them p comes before -p.
class Winograd {
public:
  static constexpr int64_t kTaps = 3;

  /// `outputs` is 2 or 4.
  explicit Winograd(int64_t outputs) : Winograd(outputs, /*isWhole=*/false) {}
  /// Returns transforms whose factors are all integers.
  static Winograd ofBytes(int64_t outputs) {
    return Winograd(outputs, /*isWhole=*/true);
  }

  /// Number of outputs per step, and of the data and products for them.
  int64_t outputs() const { return numOutputs; }
  int64_t points() const { return numOutputs + kTaps - 1; }
  /// Number of points in two dimensions.
  int64_t positions() const { return points() * points(); }

  /// Returns the distance of the transformed pixels of two tiles, in elements.
  /// It exceeds the channels by a cache line, so that points do not fall into
  /// one cache set.
  static int64_t pitch(int64_t channels) {
    return (channels + kLine - 1) / kLine * kLine + kLine;
  }
  /// Returns the distance of two points of `elements` each, in elements. It is
  /// an odd number of cache lines, so that all cache sets are used evenly.
  static int64_t distance(int64_t elements) {
    return ((elements + kLine - 1) / kLine | 1) * kLine;
  }
  /// Returns the bytes that a tile takes on a task's stack: transformed pixels
  /// and the products of `columns` columns. Transformed bytes are int16.
  int64_t bytes(int64_t channels, int64_t columns) const {
    return positions() * (pitch(isWhole ? channels / 2 : channels) + columns) *
           4;
  }

  /// Returns the bytes of four channels of byte weights, transformed to int16.
  int64_t weightBytes(int64_t columns) const {
    return positions() * columns * 4 * 2;
  }

  /// Returns the bits of a byte sum that its products do not determine, and the
  /// inverse of the remaining factor modulo 2^32.
  int64_t lostBits() const { return numOutputs == 2 ? 2 : 6; }
  uint32_t inverse() const { return numOutputs == 2 ? 1 : 954437177u; }

  /// Returns the factor of datum `k` or tap `k` at `point`, and the factor of
  /// the product at `point` in output `i`.
  double data(int64_t point, int64_t k) const;
  double filter(int64_t point, int64_t k) const;
  double output(int64_t i, int64_t point) const;

private:
  Winograd(int64_t outputs, bool isWhole);

  /// Elements of a cache line.
  static constexpr int64_t kLine = 16;

  double at(int64_t point) const;
  /// Returns the product of the distances to all other finite points.
  double distances(int64_t point) const;
  /// Returns the square of the point of pair `i`.
  double squareOf(int64_t i) const;

  int64_t numOutputs;
  bool isWhole;
};

/// Limits on the stack of a task: for pixels and products, and for byte weights
/// that a run transforms.
constexpr int64_t kMaxWinogradBytes = 304 << 10;
constexpr int64_t kMaxWinogradWeightBytes = 96 << 10;

} // namespace ingot::cpu

#endif // INGOT_DIALECTS_CPU_WINOGRAD_H
