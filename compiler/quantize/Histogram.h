//===- Histogram.h - histogram of a tensor's values -------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_QUANTIZE_HISTOGRAM_H
#define INGOT_COMPILER_QUANTIZE_HISTOGRAM_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace ingot::quantize {

/// Counts of values in bins. The bins are equal for all tensors: 1024 for each
/// power of two and sign. The result does not depend on the order or grouping
/// of the values. The size is bounded: zeros and values 2^16 times smaller than
/// the largest magnitude count together. A bin is never wider than 1/1024 of
/// the largest magnitude.
class Histogram {
public:
  /// Returns the largest memory that a histogram takes.
  static size_t mostBytes();

  /// Returns the minimum or the maximum of the finite values; 0 if there are
  /// none.
  float min() const { return total ? least : 0; }
  float max() const { return total ? largest : 0; }
  /// Returns the number of finite values, or of infinite and NaN values.
  uint64_t count() const { return total; }
  uint64_t countNotFinite() const { return notFinite; }

  void add(const float *values, size_t count);
  /// Counts values and updates the minimum and maximum, but fills no bins.
  void addRange(const float *values, size_t count);
  void merge(const Histogram &other);

  /// Calls `visit` for each bin that has values, in ascending order. A bin
  /// spans `low` to `high` and includes only one of these ends.
  using Visit = std::function<void(double low, double high, uint64_t count)>;
  void forEachBin(const Visit &visit) const;

  bool operator==(const Histogram &other) const;

private:
  void raise(int exponent);
  void addPiece(const float *values, size_t count, bool fillsBins);
  void addFinite(const float *values, size_t count);
  /// Returns the number of values that are too small for a bin.
  uint64_t small() const;

  float least = 0, largest = 0;
  uint64_t total = 0, notFinite = 0;
  /// Biased exponent of the largest magnitude so far.
  int top = -1;
  /// Bins of positive values by ascending magnitude, then bins of negative
  /// values, then bins for small values.
  std::vector<uint64_t> bins;
};

} // namespace ingot::quantize

#endif // INGOT_COMPILER_QUANTIZE_HISTOGRAM_H
