//===- ScaleWeights.cpp - weights whose sums f16 holds --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/lower/PackWeights.h"

#include "dialects/cpu/PackedWeights.h"
#include "dialects/nn/Constants.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

/// Returns the exponent of the power of two that scales a column. With this
/// scale, no sum of kF16Terms products with f16 values exceeds the range of
/// f16. A margin allows for relative rounding errors of 2^-11 in each addition.
/// Returns nullopt if a value is not finite, or if the inverse of the scale is
/// not a normal f32.
static std::optional<int> exponentFor(MutableArrayRef<float> column) {
  constexpr double kUsable = 0.95;
  double sum = 0;
  for (float &weight : column) {
    weight = std::abs(weight);
    sum += weight;
  }
  constexpr int kLargest = 100;
  if (!(sum < std::ldexp(1.0, kLargest)))
    return std::nullopt;
  if (int64_t(column.size()) > cpu::kF16Terms) {
    float *last = column.begin() + cpu::kF16Terms;
    std::nth_element(column.begin(), last, column.end(), std::greater<>());
    sum = 0;
    for (float weight : column.take_front(cpu::kF16Terms))
      sum += weight;
  }
  if (sum == 0)
    return 0;
  return std::min(int(std::floor(std::log2(kUsable / sum))), kLargest);
}

std::optional<cpu::ScaledWeights>
cpu::scaleForF16Sums(ElementsAttr weights, const WeightColumns &columns) {
  std::vector<char> storage;
  std::optional<ArrayRef<char>> source = nn::getRawBytes(weights, storage);
  if (!source || !weights.getElementType().isF32())
    return std::nullopt;
  std::vector<char> scaled(source->begin(), source->end());
  auto at = [&](int64_t column, int64_t k) {
    return (column * columns.stride + k * columns.step) *
           int64_t(sizeof(float));
  };
  std::vector<double> undo;
  std::vector<float> column(columns.depth);
  for (int64_t j = 0; j < columns.count; ++j) {
    for (int64_t k = 0; k < columns.depth; ++k)
      std::memcpy(&column[k], &scaled[at(j, k)], sizeof(float));
    std::optional<int> exponent = exponentFor(column);
    if (!exponent)
      return std::nullopt;
    undo.push_back(std::ldexp(1.0, -*exponent));
    for (int64_t k = 0; k < columns.depth; ++k) {
      float weight;
      std::memcpy(&weight, &scaled[at(j, k)], sizeof(weight));
      weight = std::ldexp(weight, *exponent);
      std::memcpy(&scaled[at(j, k)], &weight, sizeof(weight));
    }
  }
  auto type = cast<RankedTensorType>(weights.getShapedType());
  return ScaledWeights{
      nn::makeConstantAttr(type, std::move(scaled)),
      nn::makeConstantAttr(RankedTensorType::get({columns.count},
                                                 type.getElementType()),
                           undo)};
}
