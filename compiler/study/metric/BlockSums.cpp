//===- BlockSums.cpp - how certain a difference of scores is --------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/metric/BlockSums.h"

#include <cmath>

using namespace ingot;
using namespace ingot::study;

void BlockSums::add(const Metric &metric, const Sums &one) {
  if (metric.isOfAllSamples())
    return;
  if (sums.size() < kMostBlocks)
    sums.push_back(one);
  else
    metric.add(sums[numSamples % kMostBlocks], one);
  ++numSamples;
}

/// Returns the score of all blocks but one, for each block.
static std::vector<double> scoresWithout(const Metric &metric,
                                         llvm::ArrayRef<Sums> blocks) {
  Sums all;
  for (const Sums &block : blocks)
    metric.add(all, block);
  std::vector<double> scores;
  for (const Sums &block : blocks) {
    Sums rest = all;
    for (size_t i = 0; i < block.size(); ++i)
      rest[i] -= block[i];
    scores.push_back(metric.score(rest));
  }
  return scores;
}

std::optional<double> ingot::study::errorOfDifference(const Metric &metric,
                                                      const BlockSums &a,
                                                      const BlockSums &b) {
  const size_t count = a.blocks().size();
  if (count < 2 || b.blocks().size() != count)
    return std::nullopt;
  std::vector<double> differences = scoresWithout(metric, a.blocks());
  const std::vector<double> others = scoresWithout(metric, b.blocks());
  double mean = 0, squares = 0;
  for (size_t i = 0; i < count; ++i) {
    differences[i] -= others[i];
    mean += differences[i] / double(count);
  }
  for (double difference : differences)
    squares += (difference - mean) * (difference - mean);
  return std::sqrt(squares * double(count - 1) / double(count));
}
