//===- ExcessWeights.cpp - few weights beyond int8 ------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/support/ExcessWeights.h"

#include "dialects/nn/Constants.h"
#include "passes/support/Shapes.h"

#include <algorithm>

using namespace mlir;
using namespace ingot;
using namespace ingot::support;

/// Limit of the places of remainders. Each place adds a product to the
/// epilogue; sums of windows cost more.
static constexpr size_t kMaxPlaces = 4;

/// The least number of terms of a sum for each place of remainders. Sums of
/// fewer terms cost less.
static constexpr size_t kTermsOfPlace = 4;

/// Splits the weights of `outputs`. `find(i)` returns the output and the place
/// of weight `i`.
static std::optional<Remainders>
split(std::vector<double> &weights, int64_t outputs,
      function_ref<std::pair<int64_t, WeightPlace>(int64_t)> find) {
  const size_t most =
      std::min(kMaxPlaces, weights.size() / size_t(outputs) / kTermsOfPlace);
  auto bounded = [](double weight) {
    return std::clamp(weight, -128.0, 127.0);
  };
  Remainders remainders;
  for (auto [i, weight] : llvm::enumerate(weights)) {
    if (bounded(weight) == weight)
      continue;
    auto [output, place] = find(int64_t(i));
    std::vector<double> &amounts = remainders[place];
    if (remainders.size() > most)
      return std::nullopt;
    amounts.resize(outputs, 0);
    amounts[output] = weight - bounded(weight);
  }
  llvm::transform(weights, weights.begin(), bounded);
  return remainders;
}

std::optional<Remainders>
support::splitConvWeights(std::vector<double> &weights, ArrayRef<int64_t> shape,
                          int64_t groups) {
  const int64_t outputs = shape[0], channels = shape[1];
  if (outputs < 1 || groups < 1 || outputs % groups != 0 || channels < 1)
    return std::nullopt;
  const int64_t each = int64_t(weights.size()) / outputs,
                taps = each / channels;
  return split(weights, outputs, [&](int64_t i) {
    const int64_t output = i / each, group = output / (outputs / groups);
    return std::pair(output,
                     WeightPlace{group * channels + i % each / taps, i % taps});
  });
}

std::optional<Remainders> support::splitMatrix(std::vector<double> &weights,
                                               int64_t outputs,
                                               bool hasColumns) {
  if (outputs < 1)
    return std::nullopt;
  const int64_t terms = int64_t(weights.size()) / outputs;
  return split(weights, outputs, [&](int64_t i) {
    return hasColumns ? std::pair(i % outputs, WeightPlace{i / outputs, 0})
                      : std::pair(i / terms, WeightPlace{i % terms, 0});
  });
}

bool support::takesRemainders(nn::ConvOp conv) {
  auto isKnown = [](Value value) {
    return llvm::none_of(typeOf(value).getShape().drop_front(2),
                         ShapedType::isDynamic);
  };
  return !conv.getChannelsLast() && isKnown(conv.getX()) &&
         isKnown(conv.getY());
}

/// Returns `x` from `starts`, with steps. Open sizes of `shape` are kept.
static Value sliceOf(OpBuilder &builder, Location loc, Value x,
                     ArrayRef<int64_t> shape, ArrayRef<int64_t> starts,
                     ArrayRef<int64_t> steps) {
  SmallVector<int64_t> sizes(shape);
  for (int64_t &size : sizes)
    if (ShapedType::isDynamic(size))
      size = -1;
  return nn::SliceOp::create(builder, loc, typeOf(x).clone(shape), x, starts,
                             sizes, steps);
}

Value support::dataAt(OpBuilder &builder, nn::ConvOp conv,
                      const WeightPlace &place) {
  Location loc = conv.getLoc();
  RankedTensorType type = typeOf(conv.getX());
  SmallVector<int64_t> starts(type.getRank(), 0), steps(type.getRank(), 1),
      shape(type.getShape());
  starts[1] = place.channel;
  shape[1] = 1;
  Value x = conv.getX();
  ArrayRef<int64_t> pads = conv.getPads();
  if (llvm::any_of(pads, [](int64_t pad) { return pad != 0; })) {
    x = sliceOf(builder, loc, x, shape, starts, steps);
    starts[1] = 0;
    SmallVector<int64_t> low(2, 0), high(2, 0);
    llvm::append_range(low, pads.take_front(pads.size() / 2));
    llvm::append_range(high, pads.drop_front(pads.size() / 2));
    for (size_t d = 2; d < shape.size(); ++d)
      shape[d] += low[d] + high[d];
    Value zero = nn::makeScalar(builder, loc, type.getElementType(),
                                double(conv.getXZeroPoint()));
    x = nn::PadOp::create(builder, loc, type.clone(shape), x, zero, low, high,
                          nn::PadMode::constant);
  }
  int64_t tap = place.tap;
  ArrayRef<int64_t> kernel = typeOf(conv.getW()).getShape().drop_front(2);
  for (size_t d = kernel.size(); d-- > 0; tap /= kernel[d]) {
    starts[2 + d] = tap % kernel[d] * conv.getDilations()[d];
    steps[2 + d] = conv.getStrides()[d];
    shape[2 + d] = typeOf(conv.getY()).getDimSize(int64_t(2 + d));
  }
  return sliceOf(builder, loc, x, shape, starts, steps);
}

Value support::columnOf(OpBuilder &builder, Location loc, Value x,
                        int64_t column) {
  SmallVector<int64_t> shape(typeOf(x).getShape()), starts(shape.size(), 0),
      steps(shape.size(), 1);
  shape.back() = 1;
  starts.back() = column;
  return sliceOf(builder, loc, x, shape, starts, steps);
}
