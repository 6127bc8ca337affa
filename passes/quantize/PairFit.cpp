//===- PairFit.cpp - int8 weights that fit in pairs -----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/quantize/PairFit.h"

#include "passes/quantize/WeightQuantizer.h"
#include "passes/support/PairSums.h"
#include "passes/support/Shapes.h"

#include <cmath>

using namespace mlir;
using namespace ingot;
using namespace ingot::quantize;
using namespace ingot::support;

/// Limits of the squared error of a product's weights. Widened scales are
/// accepted if the error is within one of the two limits.
///
/// `kMaxErrorRatio` limits the error relative to the error with unwidened
/// scales. The ratio 2 means a loss of half a bit.
///
/// `kMaxOfSquares` limits the error relative to the sum of the squared weights.
/// Normally distributed 8-bit weights have about this error. Weights of similar
/// magnitude have a smaller error.
static constexpr double kMaxErrorRatio = 2, kMaxOfSquares = 1e-4;

PairLayout::PairLayout(ArrayRef<int64_t> shape, int64_t axis)
    : distance(size_t(support::productOf(shape.drop_front(size_t(axis) + 1)))),
      run(distance * size_t(kPair)) {
  assert(shape[size_t(axis)] % kPair == 0 && "whole pairs");
}

/// Calls `visit(channel, i, j)` for the indices of the two elements of each
/// pair.
template <typename Visit>
static void forEachPair(const QuantizedWeights &weights,
                        const PairLayout &layout, Visit visit) {
  for (size_t begin = 0; begin < weights.bytes.size(); begin += layout.run)
    for (size_t i = begin; i < begin + layout.distance; ++i)
      visit(weights.channelOf(i), i, i + layout.distance);
}

bool quantize::widenForPairs(QuantizedWeights &weights,
                             const PairLayout &layout,
                             const llvm::BitVector &isFixed) {
  std::vector<double> scales = weights.scales;
  forEachPair(weights, layout, [&](size_t channel, size_t i, size_t j) {
    double x = weights.bytes[i], y = weights.bytes[j];
    if (!isFixed[unsigned(channel)] && (x > 0) == (y > 0))
      scales[channel] = std::max(scales[channel],
                                 double(float(std::abs(x + y) / kMaxPairSum)));
  });
  double before = 0, after = 0;
  for (auto [narrow, wide] : llvm::zip_equal(weights.scales, scales)) {
    before += narrow * narrow;
    after += wide * wide;
  }
  double squares = 0;
  for (double value : weights.bytes)
    squares += value * value;
  // The rounding error of a weight is uniformly distributed over a step, so its
  // mean square is step² / 12.
  const double perChannel =
      double(weights.bytes.size()) / double(weights.scales.size());
  const double error = after * perChannel / 12;
  if (after > kMaxErrorRatio * before && error > kMaxOfSquares * squares)
    return false;
  weights.scales = std::move(scales);
  return true;
}

void quantize::lowerPairs(QuantizedWeights &weights, const PairLayout &layout,
                          ArrayRef<double> values,
                          const llvm::BitVector &isFixed) {
  forEachPair(weights, layout, [&](size_t channel, size_t i, size_t j) {
    if (isFixed[unsigned(channel)])
      return;
    double &x = weights.bytes[i], &y = weights.bytes[j];
    while (!fitsInt16(int(x), int(y))) {
      auto raised = [&](double byte, size_t at) {
        return std::abs(byte) - std::abs(values[at] / weights.scales[channel]);
      };
      double &lowered = raised(x, i) >= raised(y, j) ? x : y;
      lowered -= lowered > 0 ? 1 : -1;
    }
  });
}
