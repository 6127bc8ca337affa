//===- Winograd.h - minimal filtering of 3x3 convolutions -------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// m outputs of a filter of 3 taps take m + 2 products instead of 3 m if data,
// filter and products are transformed (Winograd, Arithmetic Complexity of
// Computations, 1980; Lavin and Gray, Fast Algorithms for Convolutional Neural
// Networks, 2016): polynomials are evaluated at m + 1 points and at infinity,
// multiplied there, and interpolated. In two dimensions each row and each
// column is transformed, and (m + 2)² products give m² outputs.
//
// The points are 0 and pairs of p and -p, so that even and odd coefficients are
// summed up once for both. Those of m = 4, the root of 1/2 and of 2, have small
// powers and differences that are not small: the error is twice that of the
// convolution as it is written, where 1 and 2 have five times as much. That of
// m = 2 is smaller than the convolution's.
//
// Bytes take the points 1 and 2, and filters and outputs without their
// quotients: all numbers are whole then, and outputs are too large, 4 times or
// 64 · 9. A power of two takes its bits of a sum's 32, and 9 divides modulo
// 2^32 without a rest.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_CPU_WINOGRAD_H
#define INGOT_DIALECTS_CPU_WINOGRAD_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace ingot::cpu {

/// The transforms of one dimension. Of `points()` evaluated, the first is at 0,
/// the last at infinity, and between them p comes before -p.
class Winograd {
public:
  static constexpr int64_t kTaps = 3;

  /// `outputs` is 2 or 4.
  explicit Winograd(int64_t outputs) : Winograd(outputs, /*isWhole=*/false) {}
  /// All of whose factors are whole numbers.
  static Winograd ofBytes(int64_t outputs) {
    return Winograd(outputs, /*isWhole=*/true);
  }
  /// By the points of both dimensions, 16 or 36; null for others.
  static bool hasPositions(int64_t positions) {
    return positions == 16 || positions == 36;
  }
  static Winograd ofPositions(int64_t positions) {
    return Winograd(positions == 16 ? 2 : 4);
  }

  /// Outputs at a time, and data and products of them.
  int64_t outputs() const { return numOutputs; }
  int64_t points() const { return numOutputs + kTaps - 1; }
  /// Of both dimensions.
  int64_t positions() const { return points() * points(); }

  /// Elements between the transformed pixels of two tiles: a cache line more
  /// than their channels, so that points do not fall into one set of the cache.
  static int64_t pitch(int64_t channels) {
    return (channels + kLine - 1) / kLine * kLine + kLine;
  }
  /// Elements between two points of `elements` each: an odd number of cache
  /// lines, which all sets of the cache share alike.
  static int64_t distance(int64_t elements) {
    return ((elements + kLine - 1) / kLine | 1) * kLine;
  }
  /// What a tile takes of a task's stack: transformed pixels, and the products
  /// of `columns` columns. Two bytes become words beside each other.
  int64_t bytes(int64_t channels, int64_t columns) const {
    return positions() * (pitch(isWhole ? channels / 2 : channels) + columns) *
           4;
  }

  /// What four channels of weights of bytes take, transformed to words.
  int64_t weightBytes(int64_t columns) const {
    return positions() * columns * 4 * 2;
  }

  /// The bits of a sum of bytes of which its products say nothing; and what its
  /// remaining factor is multiplied by to be 1 modulo 2^32.
  int64_t lostBits() const { return numOutputs == 2 ? 2 : 6; }
  uint32_t inverse() const { return numOutputs == 2 ? 1 : 954437177u; }

  /// What datum `k`, tap `k` count for at `point`, and what the product at
  /// `point` counts for in output `i`.
  double data(int64_t point, int64_t k) const;
  double filter(int64_t point, int64_t k) const;
  double output(int64_t i, int64_t point) const;

private:
  Winograd(int64_t outputs, bool isWhole);

  /// Elements of a cache line.
  static constexpr int64_t kLine = 16;

  double at(int64_t point) const;
  /// The product of the distances to all other finite points.
  double distances(int64_t point) const;
  /// The square of the point of pair `i`.
  double squareOf(int64_t i) const;

  int64_t numOutputs;
  bool isWhole;
};

/// Of the stack of a task: pixels and products, and weights of bytes that are
/// transformed in the run.
constexpr int64_t kMaxWinogradBytes = 304 << 10;
constexpr int64_t kMaxWinogradWeightBytes = 96 << 10;

} // namespace ingot::cpu

#endif // INGOT_DIALECTS_CPU_WINOGRAD_H
