//===- Histogram.cpp - histogram of a tensor's values ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/quantize/Histogram.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <numeric>

using namespace ingot::quantize;

static constexpr int kMantissaBits = 10;
static constexpr int kOctaves = 16;
static constexpr int kOctaveBins = 1 << kMantissaBits;
/// Number of bins per sign.
static constexpr int kBins = kOctaves * kOctaveBins;
static constexpr int kShift = 23 - kMantissaBits;
/// Number of bins for values that are too small for other bins. These bins come
/// after the bins of both signs.
static constexpr int kSmallBins = 8;
static constexpr int kNotFinite = 0xff;
/// Number of values that are counted in one step.
static constexpr size_t kPiece = 2048;

size_t Histogram::mostBytes() {
  return sizeof(uint64_t) * (2 * kBins + kSmallBins);
}

static uint32_t bitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

static float floatOf(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

static int exponentOf(uint32_t bits) { return int(bits >> 23 & 0xff); }

/// Raises the largest exponent that has bins. Values that become too small for
/// their bins move to the bins for small values.
void Histogram::raise(int exponent) {
  if (bins.empty())
    bins.resize(2 * kBins + kSmallBins);
  if (top >= 0) {
    int gone = std::min(exponent - top, kOctaves) * kOctaveBins;
    for (int sign = 0; sign < 2; ++sign) {
      auto begin = bins.begin() + sign * kBins, end = begin + kBins;
      for (auto at = begin; at != begin + gone; ++at)
        bins.back() += *at;
      std::fill(std::move(begin + gone, end, begin), end, 0);
    }
  }
  top = exponent;
}

/// Maps a float to an integer. The integers are ordered as the floats are.
static int32_t orderOf(float value) {
  auto bits = int32_t(bitsOf(value));
  return bits ^ (bits >> 31 & 0x7fffffff);
}

static float inOrder(int32_t order) {
  return floatOf(uint32_t(order ^ (order >> 31 & 0x7fffffff)));
}

// The loader selects a clone before sanitizers are ready, so sanitizer builds
// have no clones.
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define INGOT_FOR_WIDER_VECTORS
#else
#define INGOT_FOR_WIDER_VECTORS                                                \
  __attribute__((target_clones("avx2", "default")))
#endif

/// Finds the bin of each value. Counting is a separate loop, because it cannot
/// be vectorized.
INGOT_FOR_WIDER_VECTORS static void findBins(const float *values, size_t count,
                                             int base, int32_t *places) {
  for (size_t i = 0; i < count; ++i) {
    const uint32_t bits = bitsOf(values[i]);
    const int bin = int((bits & 0x7fffffff) >> kShift) - base;
    // Spreads small values over several bins. Runs of small values, such as
    // zeros, are common. If they shared one bin, its increments would wait for
    // each other.
    const int small = 2 * kBins + int(uint32_t(i) % kSmallBins);
    places[i] = bin < 0 ? small : bin + int(bits >> 31) * kBins;
  }
}

void Histogram::addFinite(const float *values, size_t count) {
  constexpr size_t kAtOnce = 512;
  int32_t places[kAtOnce];
  uint64_t *const counts = bins.data();
  for (size_t begin = 0; begin < count; begin += kAtOnce) {
    const size_t size = std::min(kAtOnce, count - begin);
    findBins(values + begin, size, (top - kOctaves + 1) * kOctaveBins, places);
    for (size_t i = 0; i < size; ++i)
      ++counts[places[i]];
  }
}

/// Finds the minimum and maximum. Compiled also for CPUs with wider vectors,
/// because this loop reads every value of a tensor.
INGOT_FOR_WIDER_VECTORS static void findEnds(const float *values, size_t count,
                                             int32_t &least, int32_t &largest) {
  int32_t low = INT32_MAX, high = INT32_MIN;
  for (size_t i = 0; i < count; ++i) {
    const int32_t order = orderOf(values[i]);
    low = order < low ? order : low;
    high = order > high ? order : high;
  }
  least = low;
  largest = high;
}

/// Counts a piece. The piece fits into the L1 cache, because it is read twice.
void Histogram::addPiece(const float *values, size_t count, bool fillsBins) {
  int32_t low = 0, high = 0;
  findEnds(values, count, low, high);
  const float lowest = inOrder(low), highest = inOrder(high);
  const int exponent =
      std::max(exponentOf(bitsOf(lowest)), exponentOf(bitsOf(highest)));
  if (exponent == kNotFinite) {
    std::vector<float> finite;
    std::copy_if(
        values, values + count, std::back_inserter(finite),
        [](float value) { return exponentOf(bitsOf(value)) != kNotFinite; });
    notFinite += count - finite.size();
    if (!finite.empty())
      addPiece(finite.data(), finite.size(), fillsBins);
    return;
  }
  // Adds 0 to turn -0 into 0, so that the order of -0 and 0 does not matter.
  least = (total ? std::min(least, lowest) : lowest) + 0.0f;
  largest = (total ? std::max(largest, highest) : highest) + 0.0f;
  total += count;
  if (!fillsBins)
    return;
  if (exponent > top)
    raise(exponent);
  addFinite(values, count);
}

void Histogram::add(const float *values, size_t count) {
  for (size_t begin = 0; begin < count; begin += kPiece)
    addPiece(values + begin, std::min(kPiece, count - begin), true);
}

void Histogram::addRange(const float *values, size_t count) {
  for (size_t begin = 0; begin < count; begin += kPiece)
    addPiece(values + begin, std::min(kPiece, count - begin), false);
}

uint64_t Histogram::small() const {
  return bins.empty() ? 0
                      : std::accumulate(bins.end() - kSmallBins, bins.end(),
                                        uint64_t(0));
}

void Histogram::merge(const Histogram &other) {
  notFinite += other.notFinite;
  if (!other.total)
    return;
  least = total ? std::min(least, other.least) : other.least;
  largest = total ? std::max(largest, other.largest) : other.largest;
  total += other.total;
  if (other.bins.empty())
    return;
  if (other.top > top)
    raise(other.top);
  int down = (top - other.top) * kOctaveBins;
  for (int sign = 0; sign < 2; ++sign)
    for (int i = 0; i < kBins; ++i) {
      uint64_t count = other.bins[sign * kBins + i];
      (i < down ? bins.back() : bins[sign * kBins + i - down]) += count;
    }
  bins.back() += other.small();
}

void Histogram::forEachBin(const Visit &visit) const {
  if (bins.empty())
    return;
  const int base = (top - kOctaves + 1) * kOctaveBins;
  // Exponents below that of subnormal numbers have no values.
  auto edge = [&](int bin) {
    int at = std::max(base + bin, 0);
    // The upper edge of the largest exponent is infinite, so use the largest
    // float instead.
    return at >= kNotFinite * kOctaveBins
               ? double(floatOf(0x7f7fffff))
               : double(floatOf(uint32_t(at) << kShift));
  };
  for (int i = kBins; i-- > 0;)
    if (uint64_t count = bins[kBins + i])
      visit(-edge(i + 1), -edge(i), count);
  if (uint64_t count = small())
    visit(-edge(0), edge(0), count);
  for (int i = 0; i < kBins; ++i)
    if (uint64_t count = bins[i])
      visit(edge(i), edge(i + 1), count);
}

bool Histogram::operator==(const Histogram &other) const {
  return min() == other.min() && max() == other.max() && total == other.total &&
         notFinite == other.notFinite && top == other.top &&
         small() == other.small() &&
         std::equal(bins.begin(), bins.end() - (bins.empty() ? 0 : kSmallBins),
                    other.bins.begin(),
                    other.bins.end() - (other.bins.empty() ? 0 : kSmallBins));
}
