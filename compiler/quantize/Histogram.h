//===- Histogram.h - how often a tensor has which values --------*- C++ -*-===//
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

/// Counts of values in bins that are the same for every tensor: 1024 for each
/// power of two and sign. So it does not matter in which order, in which pieces
/// or by whom values were counted. Its size is fixed: what is 2^16 times less
/// than the largest magnitude, and zero, is one bin; a bin is never wider than
/// 1/1024 of the largest magnitude.
class Histogram {
public:
  /// Most memory that one takes.
  static size_t mostBytes();

  /// Least and largest of what is finite; of nothing, 0.
  float min() const { return total ? least : 0; }
  float max() const { return total ? largest : 0; }
  /// Values counted, and those that were not, for they are infinite or NaN.
  uint64_t count() const { return total; }
  uint64_t countNotFinite() const { return notFinite; }

  void add(const float *values, size_t count);
  /// Only counts, and finds the least and the largest: there are no bins.
  void addRange(const float *values, size_t count);
  void merge(const Histogram &other);

  /// Calls `visit` for each bin that counts something, in ascending order:
  /// values from `low` to `high`, one of them included.
  using Visit = std::function<void(double low, double high, uint64_t count)>;
  void forEachBin(const Visit &visit) const;

  bool operator==(const Histogram &other) const;

private:
  void raise(int exponent);
  void addPiece(const float *values, size_t count, bool fillsBins);
  void addFinite(const float *values, size_t count);
  /// Values that are too small for a bin.
  uint64_t small() const;

  float least = 0, largest = 0;
  uint64_t total = 0, notFinite = 0;
  /// The biased exponent of the largest magnitude so far.
  int top = -1;
  /// Positive ones in ascending order of magnitude, then negative ones, then
  /// what is too small.
  std::vector<uint64_t> bins;
};

} // namespace ingot::quantize

#endif // INGOT_COMPILER_QUANTIZE_HISTOGRAM_H
