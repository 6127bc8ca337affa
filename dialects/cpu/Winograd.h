//===- Winograd.h - Winograd transforms -------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Transforms of Winograd convolution with filters of 3 taps. They compute m
// outputs with m + 2 products instead of 3 m. Polynomials are evaluated at m +
// 1 points and at infinity, multiplied there, and interpolated. In two
// dimensions, rows and columns are transformed, so (m + 2)² products give m²
// outputs.
// Sources: Winograd, Arithmetic Complexity of Computations, 1980; Lavin and
// Gray, Fast Algorithms for Convolutional Neural Networks, 2016.
//
// The points are 0 and pairs p, -p. The points of a pair share the sums of even
// and of odd coefficients. For m = 4, the values of p are the square roots of
// 1/2 and 2. Their powers are small, but their differences are large. So the
// error is only twice the error of the direct convolution. For p = 1 and p = 2
// it would be five times as large. For m = 2, the error is smaller than that of
// the direct convolution.
//
// For bytes the values of p are 1 and 2. Filters and outputs are not divided,
// so all values are integers. Outputs are too large by a factor of 4 or 64 · 9.
// The power of two takes that many bits from the 32-bit sum. The division by 9
// is exact modulo 2^32.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_CPU_WINOGRAD_H
#define INGOT_DIALECTS_CPU_WINOGRAD_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace ingot::cpu {

/// The transforms of one dimension. Among the `points()` points, 0 comes first
/// and infinity last. Between them, each p is followed by -p.
class Winograd {
public:
  static constexpr int64_t kTaps = 3;

  /// `outputs` is 2 or 4.
  explicit Winograd(int64_t outputs) : Winograd(outputs, /*isWhole=*/false) {}
  /// Returns transforms in which all factors are integers.
  static Winograd ofBytes(int64_t outputs) {
    return Winograd(outputs, /*isWhole=*/true);
  }

  /// Returns the number of outputs per step, or of data and products for them.
  int64_t outputs() const { return numOutputs; }
  int64_t points() const { return numOutputs + kTaps - 1; }
  /// Returns the number of points in two dimensions.
  int64_t positions() const { return points() * points(); }

  /// Returns the distance in elements between the transformed pixels of two
  /// tiles. It is a cache line more than the channels, so that the points are
  /// in different cache sets.
  static int64_t pitch(int64_t channels) {
    return (channels + kLine - 1) / kLine * kLine + kLine;
  }
  /// Returns the distance in elements between two points of `elements` each. It
  /// is an odd number of cache lines, so that all cache sets are used equally.
  static int64_t distance(int64_t elements) {
    return ((elements + kLine - 1) / kLine | 1) * kLine;
  }
  /// Returns the bytes on a task's stack for one tile: its transformed pixels,
  /// and the products of `columns` columns. Transformed bytes are int16.
  int64_t bytes(int64_t channels, int64_t columns) const {
    return positions() * (pitch(isWhole ? channels / 2 : channels) + columns) *
           4;
  }

  /// Returns the bytes of four channels of byte weights after the transform to
  /// int16.
  int64_t weightBytes(int64_t columns) const {
    return positions() * columns * 4 * 2;
  }

  /// Returns the number of bits of a byte sum that the products do not
  /// determine, or the inverse of the remaining factor modulo 2^32.
  int64_t lostBits() const { return numOutputs == 2 ? 2 : 6; }
  uint32_t inverse() const { return numOutputs == 2 ? 1 : 954437177u; }

  /// Returns a factor: of datum `k` or tap `k` at `point`, or of the product at
  /// `point` in output `i`.
  double data(int64_t point, int64_t k) const;
  double filter(int64_t point, int64_t k) const;
  double output(int64_t i, int64_t point) const;

private:
  Winograd(int64_t outputs, bool isWhole);

  /// Number of elements in a cache line.
  static constexpr int64_t kLine = 16;

  double at(int64_t point) const;
  /// Returns the product of the distances to all other finite points.
  double distances(int64_t point) const;
  /// Returns the square of the point of pair `i`.
  double squareOf(int64_t i) const;

  int64_t numOutputs;
  bool isWhole;
};

/// Limits on the bytes on a task's stack: for pixels and products, and for byte
/// weights that are transformed during the run.
constexpr int64_t kMaxWinogradBytes = 304 << 10;
constexpr int64_t kMaxWinogradWeightBytes = 96 << 10;

} // namespace ingot::cpu

#endif // INGOT_DIALECTS_CPU_WINOGRAD_H
