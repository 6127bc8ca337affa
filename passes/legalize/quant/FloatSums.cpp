//===- FloatSums.cpp - convolutions of bytes as floats --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A window of many taps is cut into parts along its longest dimension, so that
// f32 holds the sums of each part:
//
//     conv(x, w) = conv(x, first taps of w) + conv(x, next taps of w) + …
//
// A part keeps the taps [first, end) of that dimension. Its pads shrink by the
// taps that it leaves out. Taps whose absence would make a pad negative stay as
// zeros.
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/quant/FloatSums.h"

#include "dialects/ingot/IngotDialect.h"
#include "dialects/nn/Constants.h"
#include "passes/legalize/nn/WindowAttributes.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;
using namespace ingot::support;

namespace {

/// Constant weights `O, C, taps…`, and the dimension along which windows are
/// cut.
struct Filter {
  RankedTensorType type;
  std::vector<double> numbers;
  int64_t dim = 2, behind = 1;

  Filter(RankedTensorType type, std::vector<double> given)
      : type(type), numbers(std::move(given)) {
    for (int64_t d = 3; d < type.getRank(); ++d)
      if (taps() < type.getDimSize(d))
        dim = d;
    for (int64_t size : type.getShape().drop_front(dim + 1))
      behind *= size;
  }
  int64_t taps() const { return type.getDimSize(dim); }
  int64_t tapOf(size_t i) const { return int64_t(i) / behind % taps(); }
};

/// Taps [first, end) of the dimension along which windows are cut.
struct Part {
  int64_t first, end;
};

} // namespace

/// Returns the largest sum of each tap for each output, one output after
/// another. The data are at most `most`.
static std::vector<double> largestOfTaps(const Filter &filter, double most) {
  const int64_t outputs = std::max<int64_t>(filter.type.getDimSize(0), 1);
  const int64_t each = std::max<int64_t>(filter.numbers.size() / outputs, 1);
  std::vector<double> sums(outputs * filter.taps(), 0);
  for (auto [i, weight] : llvm::enumerate(filter.numbers))
    sums[int64_t(i) / each * filter.taps() + filter.tapOf(i)] +=
        most * std::abs(weight);
  return sums;
}

/// Returns the fewest equal parts of a window whose sums f32 holds. Returns
/// nothing if the taps of one index have too large sums.
static SmallVector<Part> cutWindow(const Filter &filter, double most) {
  const std::vector<double> sums = largestOfTaps(filter, most);
  const int64_t taps = filter.taps();
  auto fits = [&](Part part) {
    for (size_t output = 0; output < sums.size(); output += taps) {
      double total = 0;
      for (int64_t tap = part.first; tap < part.end; ++tap)
        total += sums[output + tap];
      if (total >= kLargestSum)
        return false;
    }
    return true;
  };
  for (int64_t count = 1; count <= taps; ++count) {
    const int64_t size = llvm::divideCeil(taps, count);
    SmallVector<Part> parts;
    for (int64_t tap = 0; tap < taps; tap += size)
      parts.push_back({tap, std::min(tap + size, taps)});
    if (llvm::all_of(parts, fits))
      return parts;
  }
  return {};
}

/// Makes `conv` compute one part of its window.
static void keepPart(Node &node, nn::ConvOp conv, const Filter &filter,
                     Part part) {
  const int64_t spatial = filter.dim - 2;
  SmallVector<int64_t> pads(conv.getPads()), shape(filter.type.getShape());
  int64_t &low = pads[spatial], &high = pads[pads.size() / 2 + spatial];
  const int64_t dilation = conv.getDilations()[spatial];
  const int64_t first = std::min(part.first, low / dilation);
  const int64_t end = std::max(part.end, filter.taps() - high / dilation);
  low -= first * dilation;
  high -= (filter.taps() - end) * dilation;
  shape[filter.dim] = end - first;
  std::vector<double> kept;
  for (auto [i, weight] : llvm::enumerate(filter.numbers)) {
    const int64_t tap = filter.tapOf(i);
    if (tap >= first && tap < end)
      kept.push_back(tap >= part.first && tap < part.end ? weight : 0);
  }
  OpBuilder::InsertionGuard guard(node.builder);
  node.builder.setInsertionPoint(conv);
  conv.getWMutable().assign(nn::makeConstant(node.builder, node.loc(),
                                             filter.type.clone(shape), kept));
  conv.setPads(pads);
}

Value legalize::floatWeights(Node &node, ByteInputs w) {
  auto numbers = nn::getConstantInts(node.input(w.bytes));
  Value zero = node.input(w.zeroPoint);
  auto zeros = zero ? nn::getConstantInts(zero) : SmallVector<int64_t>{0};
  RankedTensorType type = node.type(w.bytes);
  if (!numbers || !zeros || zeros->empty() ||
      (zeros->size() != 1 && int64_t(zeros->size()) != type.getDimSize(0)))
    return {};
  const size_t each = numbers->size() / zeros->size();
  std::vector<double> moved;
  moved.reserve(numbers->size());
  for (auto [i, number] : llvm::enumerate(*numbers))
    moved.push_back(double(number - (*zeros)[i / std::max<size_t>(each, 1)]));
  return nn::makeConstant(node.builder, node.loc(),
                          type.clone(node.builder.getF32Type()), moved);
}

FailureOr<Value> legalize::convolveAsFloats(Node &node, Value data,
                                            Value weights, double most) {
  auto numbers = nn::getConstantDoubles(weights);
  if (!numbers)
    return Value();
  const Filter filter(typeOf(weights), std::move(*numbers));
  const SmallVector<Part> parts = cutWindow(filter, most);
  Value sum;
  for (Part part : parts) {
    auto y = convolve(node, data, weights, Value());
    if (failed(y))
      return failure();
    auto conv = y->getDefiningOp<nn::ConvOp>();
    if (parts.size() > 1)
      keepPart(node, conv, filter, part);
    // Forces fp32, because a lower precision would round the integers.
    IngotDialect::PrecisionAttrHelper(node.context())
        .setAttr(conv, PrecisionAttr::get(node.context(), Precision::fp32));
    Value whole = node.make<nn::CastOp>(
        typeOf(*y).clone(node.builder.getI32Type()), *y, /*in_range=*/true);
    if (!sum) {
      sum = whole;
      continue;
    }
    auto both = node.infer<nn::AddOp>(sum, whole);
    if (failed(both))
      return failure();
    sum = *both;
  }
  return sum;
}
