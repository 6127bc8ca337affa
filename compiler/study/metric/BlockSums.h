//===- BlockSums.h - how certain a difference of scores is ------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_METRIC_BLOCKSUMS_H
#define INGOT_COMPILER_STUDY_METRIC_BLOCKSUMS_H

#include "compiler/study/metric/Metric.h"

#include <optional>

namespace ingot::study {

/// Sums over blocks of samples. Equal samples of two models are in equal
/// blocks.
class BlockSums {
public:
  /// Adds the sums of the next sample. Has no blocks if the metric needs all
  /// samples at once.
  void add(const Metric &metric, const Sums &one);

  llvm::ArrayRef<Sums> blocks() const { return sums; }

private:
  /// The most blocks. More make the error hardly more certain.
  static constexpr size_t kMostBlocks = 100;

  std::vector<Sums> sums;
  size_t numSamples = 0;
};

/// Returns the standard error, in percentage points, of the difference between
/// the scores of two models on the same samples. It is a jackknife: each block
/// is left out once. Returns nothing for fewer than two blocks.
std::optional<double> errorOfDifference(const Metric &metric,
                                        const BlockSums &a, const BlockSums &b);

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_METRIC_BLOCKSUMS_H
