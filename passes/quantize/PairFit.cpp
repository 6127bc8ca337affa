//===- PairFit.cpp - weights for CPUs without VNNI ------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/quantize/PairFit.h"

#include "dialects/nn/NNDialect.h"
#include "passes/cpu/policy/BytePairs.h"
#include "passes/cpu/policy/Filtering.h"
#include "passes/quantize/Weights.h"
#include "passes/support/Shapes.h"

#include <cmath>

using namespace mlir;
using namespace ingot;
using namespace ingot::quantize;
using namespace ingot::support;

/// The squared error that all weights of a product may have: so many times
/// that of scales for their largest weights, which is half a bit; or so much of
/// their squares, as normally distributed ones have with 8 bits. Those that are
/// about as large as each other lose less.
static constexpr double kMostTimes = 2, kMostOfSquares = 1e-4;

static bool areMany(int64_t rows) {
  return ShapedType::isDynamic(rows) || rows >= cpu::kLeastPairRows;
}

static bool multipliesPairs(nn::ConvOp conv) {
  ArrayRef<int64_t> weights = support::shapeOf(conv.getW());
  ArrayRef<int64_t> taps = weights.drop_front(2);
  int64_t groups = weights[1] / cpu::kPairGroup;
  // Rows are the pixels of all images. 3x3 taps take fewer products, of words.
  ArrayRef<int64_t> y = support::shapeOf(conv.getY());
  int64_t rows =
      support::productOf({y[0], support::productOf(y.drop_front(2))});
  return conv.getGroups() == 1 && weights[1] % cpu::kPairGroup == 0 &&
         cpu::suitsPairs(groups * taps.back(),
                         groups * support::productOf(taps)) &&
         areMany(rows) && cpu::whyNotThreeByThree(conv);
}

static bool multipliesPairs(nn::MatMulOp matmul, int64_t axis) {
  int64_t depth = support::shapeOf(matmul.getB())[size_t(axis)];
  int64_t groups = depth / cpu::kPairGroup;
  return depth % cpu::kPairGroup == 0 && cpu::suitsPairs(groups, groups) &&
         areMany(support::productOf(
             support::shapeOf(matmul.getResult()).drop_back()));
}

std::optional<int64_t> quantize::pairedAxis(Operation *product) {
  if (auto conv = dyn_cast<nn::ConvOp>(product); conv && multipliesPairs(conv))
    return 1;
  auto matmul = dyn_cast<nn::MatMulOp>(product);
  int64_t axis = matmul && matmul.getTransposeB() ? 1 : 0;
  if (matmul && multipliesPairs(matmul, axis))
    return axis;
  return std::nullopt;
}

PairLayout::PairLayout(ArrayRef<int64_t> shape, int64_t axis)
    : distance(size_t(support::productOf(shape.drop_front(size_t(axis) + 1)))),
      run(distance * size_t(cpu::kPair)) {
  assert(shape[size_t(axis)] % cpu::kPair == 0 && "whole pairs");
}

/// Calls `visit(channel, i, j)` for the numbers of all pairs' elements.
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
      scales[channel] = std::max(
          scales[channel], double(float(std::abs(x + y) / cpu::kMostPairSum)));
  });
  double before = 0, after = 0;
  for (auto [narrow, wide] : llvm::zip_equal(weights.scales, scales)) {
    before += narrow * narrow;
    after += wide * wide;
  }
  double squares = 0;
  for (double value : weights.bytes)
    squares += value * value;
  // A rounding's error is spread evenly over a step.
  const double perChannel =
      double(weights.bytes.size()) / double(weights.scales.size());
  const double error = after * perChannel / 12;
  if (after > kMostTimes * before && error > kMostOfSquares * squares)
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
    while (!cpu::fitsWords(int(x), int(y))) {
      auto raised = [&](double byte, size_t at) {
        return std::abs(byte) - std::abs(values[at] / weights.scales[channel]);
      };
      double &lowered = raised(x, i) >= raised(y, j) ? x : y;
      lowered -= lowered > 0 ? 1 : -1;
    }
  });
}
