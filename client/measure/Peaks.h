//===- Peaks.h - the roofline of this machine ---------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_CLIENT_MEASURE_PEAKS_H
#define INGOT_CLIENT_MEASURE_PEAKS_H

#include <stdint.h>
#include <vector>

namespace ingot::tools {

/// The measured limits of the machine for a number of threads.
struct Peaks {
  /// The bandwidth of a triad in bytes per second, with arrays of `bytes` in
  /// total.
  struct Bandwidth {
    uint64_t bytes;
    double bytesPerSecond;
  };
  unsigned vectorBits = 0;
  double flopsPerSecond = 0;     ///< fp32 multiply-adds, two each
  std::vector<Bandwidth> memory; ///< from near to far

  /// Returns the bandwidth of the fastest memory that has room for `bytes`.
  double bandwidthFor(uint64_t bytes) const;
  /// Returns the minimum time of the work in seconds, or 0 if the limits are
  /// unknown.
  double bestTime(uint64_t flops, uint64_t bytes) const;
};

/// Measures for about half a second. Uses the CPU features in `features`, which
/// are bits of cpu_features.inc.
Peaks measurePeaks(unsigned threads, uint64_t features);

} // namespace ingot::tools

#endif // INGOT_CLIENT_MEASURE_PEAKS_H
