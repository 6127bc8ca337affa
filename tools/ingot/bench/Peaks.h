//===- Peaks.h - the roofline of this machine ---------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_BENCH_PEAKS_H
#define INGOT_TOOLS_INGOT_BENCH_PEAKS_H

#include <stdint.h>
#include <vector>

namespace ingot::tools {

/// What a number of threads can reach, measured.
struct Peaks {
  /// Bytes per second of a triad over arrays that take `bytes` together.
  struct Bandwidth {
    uint64_t bytes;
    double bytesPerSecond;
  };
  unsigned vectorBits = 0;
  double flopsPerSecond = 0; ///< fp32 multiply-adds, two each
  std::vector<Bandwidth> memory; ///< from near to far

  /// The rate of the nearest memory that holds `bytes`.
  double bandwidthFor(uint64_t bytes) const;
  /// Seconds that the work takes at least; 0 if nothing is known of it.
  double bestTime(uint64_t flops, uint64_t bytes) const;
};

/// Measures for about half a second. `features` are the bits of
/// cpu_features.inc that code may use.
Peaks measurePeaks(unsigned threads, uint64_t features);

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_BENCH_PEAKS_H
