//===- Ranges.h - ranges for quantization -----------------------*- C++ -*-===//
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

/// Returns the range of all values.
Range minMaxRange(const Histogram &histogram);

/// Returns the range of the central `percent` of the values. Cuts off equal
/// shares at both ends.
Range percentileRange(const Histogram &histogram, double percent);

/// Returns the range with the smallest mean squared error of 8-bit values.
/// Candidates are the full range, scaled towards 0.
Range mseRange(const Histogram &histogram);

/// Returns the range with the smallest Kullback-Leibler divergence. The
/// histogram has 2048 bins, symmetric around 0. A candidate consists of the 128
/// or more central bins. Values outside go to its outermost bins, and its bins
/// are reduced to 128 levels.
Range entropyRange(const Histogram &histogram);

/// Scale and zero point for bytes from 0 to 255: value = (byte - zeroPoint)
/// scale.
struct Encoding {
  float scale = 1;
  uint8_t zeroPoint = 0;
};

/// Returns the encoding of a range. The range is extended to contain 0, and 0
/// is represented exactly.
Encoding encode(Range range);

} // namespace ingot::quantize

#endif // INGOT_COMPILER_QUANTIZE_RANGES_H
