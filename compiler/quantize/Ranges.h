//===- Ranges.h - which range of a tensor becomes bytes ---------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_QUANTIZE_RANGES_H
#define INGOT_COMPILER_QUANTIZE_RANGES_H

#include "compiler/quantize/Histogram.h"

#include <optional>
#include <string>

namespace ingot::quantize {

struct Range {
  double min = 0, max = 0;
};

/// All that was seen.
Range minMaxRange(const Histogram &histogram);

/// `percent` of what was seen: as much is cut off below as above.
Range percentileRange(const Histogram &histogram, double percent);

/// The part of what was seen, shrunk towards 0, of which the mean of the
/// squared errors of 8 bits is least.
Range mseRange(const Histogram &histogram);

/// Of 2048 bins, symmetric around 0, the central ones from 128 on that lose
/// least information, as Kullback and Leibler measure it, when what lies
/// outside goes to their ends and 128 levels are left.
Range entropyRange(const Histogram &histogram);

/// How values become bytes from 0 to 255: value = (byte - zeroPoint) scale.
struct Encoding {
  float scale = 1;
  uint8_t zeroPoint = 0;
};

/// That of a range, and of 0, which is exact.
Encoding encode(Range range);

} // namespace ingot::quantize

#endif // INGOT_COMPILER_QUANTIZE_RANGES_H
