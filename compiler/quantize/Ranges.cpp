//===- Ranges.cpp - ranges for quantization -------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/quantize/Ranges.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>
#include <numeric>

using namespace ingot;
using namespace ingot::quantize;

static Range within(Range range, const Histogram &histogram) {
  const double least = histogram.min(), largest = histogram.max();
  return {std::clamp(range.min, least, largest),
          std::clamp(range.max, least, largest)};
}

Range quantize::minMaxRange(const Histogram &histogram) {
  return {histogram.min(), histogram.max()};
}

Range quantize::percentileRange(const Histogram &histogram, double percent) {
  const double total = double(histogram.count());
  const double cut = (100 - percent) / 200 * total;
  Range range = minMaxRange(histogram);
  double before = 0;
  histogram.forEachBin([&](double low, double high, uint64_t count) {
    const double seen = before + double(count);
    // Returns the position of a rank in the bin. Assumes that the bin's values
    // are evenly spread.
    auto placeOf = [&](double rank) {
      return low +
             (high - low) * std::min((rank - before) / double(count), 1.0);
    };
    if (before <= cut && seen > cut)
      range.min = placeOf(cut);
    // Remembers the last bin that is not cut off completely.
    if (before < total - cut)
      range.max = placeOf(total - cut);
    before = seen;
  });
  return within(range, histogram);
}

namespace {
/// Bins of equal width, symmetric around 0.
struct EvenBins {
  EvenBins(const Histogram &histogram, int number) : counts(number) {
    const double most =
        std::max(-double(histogram.min()), double(histogram.max()));
    width = 2 * most / number;
    auto place = [&](double value) {
      // If all values are zero, they are in the first bin.
      return width > 0 ? std::clamp((value + most) / width, 0.0, double(number))
                       : 0.0;
    };
    histogram.forEachBin([&](double low, double high, uint64_t count) {
      // The bins of `counts` have one width. A bin of the histogram that
      // overlaps two of them is divided between both.
      low = std::max(low, double(histogram.min()));
      high = std::min(high, double(histogram.max()));
      double from = place(low), to = place(high);
      int first = std::min(int(from), number - 1);
      int last = std::min(int(to), number - 1);
      if (first == last || to <= from) {
        counts[first] += double(count);
        return;
      }
      for (int i = first; i <= last; ++i) {
        double part = std::min(to, i + 1.0) - std::max(from, double(i));
        counts[i] += double(count) * std::max(part, 0.0) / (to - from);
      }
    });
    // Rounds to whole counts and carries the error to the next bin, so that an
    // empty bin stays empty.
    double error = 0;
    for (double &count : counts) {
      double whole = std::floor(count + error + 0.5);
      error += count - whole;
      count = whole;
    }
  }

  double center(int bin) const {
    return (bin + 0.5 - double(counts.size()) / 2) * width;
  }

  double width;
  std::vector<double> counts;
};
} // namespace

Encoding quantize::encode(Range range) {
  constexpr double levels = 255;
  const double low = std::min(range.min, 0.0), high = std::max(range.max, 0.0);
  const double scale = (high - low) / levels;
  if (scale < FLT_MIN)
    return {};
  Encoding encoding;
  // Rounds halves to even, as nearbyint does.
  encoding.zeroPoint =
      uint8_t(std::clamp(std::nearbyint(-low / scale), 0.0, levels));
  encoding.scale = float(scale);
  return encoding;
}

Range quantize::mseRange(const Histogram &histogram) {
  constexpr int kBins = 2048, kShares = 128;
  const Range all = minMaxRange(histogram);
  const EvenBins even(histogram, kBins);
  Range best = all;
  double least = std::numeric_limits<double>::infinity();
  for (int share = kShares; share > 0; --share) {
    const double part = double(share) / kShares;
    const Range range = {all.min * part, all.max * part};
    const Encoding encoding = encode(range);
    double sum = 0;
    for (int i = 0; i < kBins && sum < least; ++i) {
      if (even.counts[i] == 0)
        continue;
      const double value = even.center(i);
      const double level = std::clamp(std::nearbyint(value / encoding.scale) +
                                          encoding.zeroPoint,
                                      0.0, 255.0);
      const double error =
          (level - encoding.zeroPoint) * encoding.scale - value;
      sum += even.counts[i] * error * error;
    }
    if (sum < least) {
      least = sum;
      best = range;
    }
  }
  return best;
}

/// Raises zeros a little, and lowers all other values to compensate for that.
/// Returns false if all values are zero.
static bool smooth(std::vector<double> &values) {
  constexpr double little = 1e-4;
  const auto zeros = double(std::count(values.begin(), values.end(), 0.0));
  const double others = double(values.size()) - zeros;
  if (others == 0)
    return false;
  const double taken = little * zeros / others;
  for (double &value : values)
    value = value == 0 ? little : value - taken;
  return true;
}

static double divergence(std::vector<double> p, std::vector<double> q) {
  if (!smooth(p) || !smooth(q))
    return std::numeric_limits<double>::infinity();
  const double sumP = std::accumulate(p.begin(), p.end(), 0.0),
               sumQ = std::accumulate(q.begin(), q.end(), 0.0);
  double sum = 0;
  for (size_t i = 0; i < p.size(); ++i) {
    if (q[i] <= 0)
      return std::numeric_limits<double>::infinity();
    if (p[i] > 0)
      sum += p[i] / sumP * std::log(p[i] / sumP / (q[i] / sumQ));
  }
  return sum;
}

/// Returns the distribution that int8 with `levels` steps would have in place
/// of `p`. Each step gets the mean count of its bins. Empty bins stay empty.
static std::vector<double> flatten(const std::vector<double> &p,
                                   const double *counts, int levels) {
  const size_t merged = p.size() / size_t(levels);
  std::vector<double> q(p.size());
  for (int level = 0; level < levels; ++level) {
    const size_t begin = size_t(level) * merged, end = begin + merged;
    const size_t summed = level == levels - 1 ? p.size() : end;
    const double sum = std::accumulate(counts + begin, counts + summed, 0.0);
    const auto used = double(end - begin) -
                      double(std::count(p.begin() + ptrdiff_t(begin),
                                        p.begin() + ptrdiff_t(end), 0.0));
    if (used != 0)
      std::fill(q.begin() + ptrdiff_t(begin), q.begin() + ptrdiff_t(end),
                std::trunc(sum / used));
  }
  return q;
}

Range quantize::entropyRange(const Histogram &histogram) {
  constexpr int kBins = 2048, kLevels = 128, kZero = kBins / 2;
  if (histogram.min() == 0 && histogram.max() == 0)
    return {};
  const EvenBins even(histogram, kBins);
  const double *counts = even.counts.data();
  Range best;
  double least = std::numeric_limits<double>::infinity();
  for (int half = kLevels / 2; half <= kZero; ++half) {
    const int begin = kZero - half, end = std::min(kZero + half + 1, kBins);
    std::vector<double> p(counts + begin, counts + end);
    p.front() += std::accumulate(counts, counts + begin, 0.0);
    p.back() += std::accumulate(counts + end, counts + kBins, 0.0);
    const double lost = divergence(p, flatten(p, counts + begin, kLevels));
    if (half == kLevels / 2 || lost < least) {
      least = lost;
      best = {(begin - kZero) * even.width, (end - kZero) * even.width};
    }
  }
  return within(best, histogram);
}
