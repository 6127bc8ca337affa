//===- ExcessWeights.cpp - few weights beyond int8 ------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/quant/ExcessWeights.h"

#include "dialects/nn/Constants.h"
#include "passes/support/Shapes.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;
using namespace ingot::support;

/// The number of places of remainders. Each place adds a product to the
/// epilogue; sums of windows cost more.
static constexpr size_t kMaxPlaces = 4;

std::optional<SplitWeights> legalize::splitWeights(Node &node, Value weights,
                                                   Value zero, int64_t groups) {
  auto numbers = nn::getConstantInts(weights);
  auto zeros = zero ? nn::getConstantInts(zero) : SmallVector<int64_t>{0};
  RankedTensorType type = typeOf(weights);
  const int64_t outputs = type.getDimSize(0);
  if (!numbers || !zeros || outputs < 1 || groups < 1 ||
      outputs % groups != 0 || type.getDimSize(1) < 1 ||
      (zeros->size() != 1 && int64_t(zeros->size()) != outputs))
    return std::nullopt;
  const int64_t each = int64_t(numbers->size()) / outputs,
                channels = type.getDimSize(1), taps = each / channels;
  SplitWeights split;
  std::vector<double> bytes;
  bytes.reserve(numbers->size());
  for (auto [i, number] : llvm::enumerate(*numbers)) {
    const int64_t output = int64_t(i) / each;
    const int64_t whole =
        number - (*zeros)[zeros->size() == 1 ? 0 : size_t(output)];
    const int64_t byte = std::clamp<int64_t>(whole, -128, 127);
    bytes.push_back(double(byte));
    if (whole == byte)
      continue;
    const int64_t group = output / (outputs / groups);
    std::vector<double> &amounts = split.remainders[{
        group * channels + int64_t(i) % each / taps, int64_t(i) % taps}];
    amounts.resize(outputs, 0);
    amounts[output] = double(whole - byte);
    if (split.remainders.size() > kMaxPlaces)
      return std::nullopt;
  }
  split.bytes = nn::makeConstant(node.builder, node.loc(),
                                 type.clone(node.builder.getI8Type()), bytes);
  return split;
}

bool legalize::takesRemainders(nn::ConvOp conv) {
  auto isKnown = [](Value value) {
    return llvm::none_of(typeOf(value).getShape().drop_front(2),
                         ShapedType::isDynamic);
  };
  return !conv.getChannelsLast() && isKnown(conv.getX()) &&
         isKnown(conv.getY());
}

/// Returns the pixels of a channel that a tap of `conv` sees, as i32 less their
/// zero point.
static FailureOr<Value> pixelsUnder(Node &node, nn::ConvOp conv, Value zero,
                                    const SplitWeights::Place &place) {
  RankedTensorType data = typeOf(conv.getX());
  const size_t spatial = conv.getStrides().size();
  SmallVector<int64_t> starts(data.getRank(), 0), steps(data.getRank(), 1);
  auto sizesOf = [](RankedTensorType type) {
    SmallVector<int64_t> sizes;
    for (int64_t size : type.getShape())
      sizes.push_back(ShapedType::isDynamic(size) ? -1 : size);
    sizes[1] = 1;
    return sizes;
  };
  starts[1] = place.channel;
  auto channel =
      node.infer<nn::SliceOp>(conv.getX(), starts, sizesOf(data), steps);
  if (failed(channel))
    return failure();
  FailureOr<Value> pixels = node.cast(*channel, node.builder.getI32Type());
  if (zero)
    pixels = node.infer<nn::SubOp>(*pixels, zero);
  if (failed(pixels))
    return failure();
  ArrayRef<int64_t> pads = conv.getPads();
  if (llvm::any_of(pads, [](int64_t pad) { return pad != 0; })) {
    SmallVector<int64_t> low(2, 0), high(2, 0);
    llvm::append_range(low, pads.take_front(spatial));
    llvm::append_range(high, pads.drop_front(spatial));
    pixels = node.infer<nn::PadOp>(*pixels,
                                   node.scalar(node.builder.getI32Type(), 0),
                                   low, high, nn::PadMode::constant);
    if (failed(pixels))
      return failure();
  }
  starts[1] = 0;
  int64_t tap = place.tap;
  ArrayRef<int64_t> kernel = typeOf(conv.getW()).getShape().drop_front(2);
  for (size_t d = spatial; d-- > 0; tap /= kernel[d]) {
    starts[2 + d] = tap % kernel[d] * conv.getDilations()[d];
    steps[2 + d] = conv.getStrides()[d];
  }
  return node.infer<nn::SliceOp>(*pixels, starts, sizesOf(typeOf(conv.getY())),
                                 steps);
}

FailureOr<Value> legalize::addRemainders(Node &node, Value sums,
                                         nn::ConvOp conv, Value zero,
                                         const SplitWeights &weights) {
  Type i32 = node.builder.getI32Type();
  SmallVector<int64_t> shape(conv.getStrides().size() + 1, 1);
  for (const auto &[place, amounts] : weights.remainders) {
    auto pixels = pixelsUnder(node, conv, zero, place);
    if (failed(pixels))
      return failure();
    shape[0] = int64_t(amounts.size());
    auto more = node.infer<nn::MulOp>(
        *pixels, nn::makeConstant(node.builder, node.loc(),
                                  RankedTensorType::get(shape, i32), amounts));
    if (failed(more))
      return failure();
    auto both = node.infer<nn::AddOp>(sums, *more);
    if (failed(both))
      return failure();
    sums = *both;
  }
  return sums;
}
