//===- FloatProducts.cpp - what is as fast in floats ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/quantize/FloatProducts.h"

#include "dialects/nn/Constants.h"
#include "passes/cpu/policy/SmallGroups.h"
#include "passes/quantize/Sites.h"
#include "passes/support/Shapes.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;
using namespace ingot::support;
using support::productOf;
using support::shapeOf;

/// Elements of a tensor, of one sample where their number is open; nothing if
/// other sizes are.
static std::optional<int64_t> countElements(Value x) {
  ArrayRef<int64_t> shape = shapeOf(x);
  int64_t ofSample = productOf(shape.drop_front());
  if (ShapedType::isDynamic(ofSample))
    return std::nullopt;
  return ShapedType::isDynamic(shape[0]) ? ofSample : shape[0] * ofSample;
}

bool quantize::takesFewerProducts(nn::ConvOp conv, int64_t leastPixels) {
  auto areAll = [](ArrayRef<int64_t> numbers, int64_t number) {
    return llvm::all_of(numbers, [&](int64_t n) { return n == number; });
  };
  ArrayRef<int64_t> taps = shapeOf(conv.getW()).drop_front(2);
  if (conv.getGroups() != 1 || taps.size() != 2 || !areAll(taps, 3) ||
      !areAll(conv.getStrides(), 1) || !areAll(conv.getDilations(), 1))
    return false;
  int64_t pixels = productOf(shapeOf(conv.getResult()).drop_front(2));
  return ShapedType::isDynamic(pixels) || pixels >= leastPixels;
}

double quantize::shareOfTaps(nn::ConvOp conv, size_t dims) {
  ArrayRef<int64_t> x = shapeOf(conv.getX()).drop_front(2),
                    y = shapeOf(conv.getResult()).drop_front(2),
                    taps = shapeOf(conv.getW()).drop_front(2);
  double share = 1;
  for (size_t d = 0; d < dims; ++d) {
    int64_t stride = conv.getStrides()[d], pad = conv.getPads()[d], inside = 0;
    for (int64_t tap = 0; tap < taps[d]; ++tap) {
      // The rows whose tap is one of the pixels [0, x).
      int64_t before = pad - tap * conv.getDilations()[d];
      int64_t first = llvm::divideCeilSigned(before, stride),
              end = llvm::divideFloorSigned(x[d] - 1 + before, stride) + 1;
      inside += std::max<int64_t>(
          std::min(end, y[d]) - std::max<int64_t>(first, 0), 0);
    }
    share *= double(inside) / std::max(double(y[d]) * double(taps[d]), 1.0);
  }
  return share;
}

/// Single channels but for those of pictures. Taps in one row are multiplied as
/// floats that hold the bytes, so that only what comes from memory gains, and
/// with many taps as words nothing does. Of volumes many rows of taps need
/// weights of their own in each row of the result.
static bool areChannelsInFloats(nn::ConvOp conv, bool asWords) {
  constexpr int64_t kFewTaps = 4, kFewInVolume = 1 << 15;
  constexpr double kLeastShare = 0.7;
  ArrayRef<int64_t> taps = shapeOf(conv.getW()).drop_front(2);
  std::optional<int64_t> elements = countElements(conv.getX());
  if (taps.size() == 1)
    return (asWords && taps.back() > kFewTaps) ||
           elements.value_or(0) <= quantize::kFloatsInCache;
  return elements &&
         (*elements <= (asWords ? quantize::kFloatsInCache : kFewInVolume) ||
          quantize::shareOfTaps(conv, taps.size() - 1) < kLeastShare);
}

/// Words are at best twice as fast as floats. That is not worth rounding what
/// the model is given and scaling what comes out for few terms; and floats of
/// 3×3 taps take fewer products, bytes of few channels do not.
static bool areTooFewForWords(nn::ConvOp conv, bool ofInput) {
  constexpr int64_t kFewTerms = 24, kEight = 8, kFewChannels = 12,
                    kManyPixels = 1 << 9;
  ArrayRef<int64_t> w = shapeOf(conv.getW());
  if (conv.getGroups() != 1)
    return false;
  return (ofInput && productOf(w.drop_front()) <= kFewTerms) ||
         (w[1] < kEight && quantize::takesFewerProducts(conv, 0)) ||
         (w[1] <= kFewChannels &&
          quantize::takesFewerProducts(conv, kManyPixels));
}

/// Returns whether kernels add up the bytes that weights of single channels may
/// become, each rounded either way.
static bool haveExactSums(nn::ConvOp conv) {
  auto type = cast<RankedTensorType>(conv.getW().getType());
  std::vector<double> weights = *nn::getConstantDoubles(conv.getW());
  const size_t each = weights.size() / size_t(type.getDimSize(0));
  for (size_t first = 0; first < weights.size(); first += each) {
    MutableArrayRef<double> channel(&weights[first], each);
    double largest = 0;
    for (double weight : channel)
      largest = std::max(largest, std::abs(weight));
    for (double &weight : channel)
      weight = largest == 0 ? 0 : 127 * std::abs(weight) / largest + 1;
  }
  return cpu::areSumsExact(weights, type.getDimSize(0));
}

static bool isAsFastInFloats(nn::ConvOp conv, bool ofInput, bool asWords) {
  ArrayRef<int64_t> w = shapeOf(conv.getW());
  if (!cast<ShapedType>(conv.getW().getType()).hasStaticShape())
    return false;
  if (conv.getGroups() > 1 && w[1] == 1)
    return !haveExactSums(conv) ||
           (w.size() != 4 && areChannelsInFloats(conv, asWords));
  // Their products are of floats; only what comes from memory gains.
  if (cpu::areSmallGroups(w, conv.getGroups())) {
    std::optional<int64_t> elements = countElements(conv.getX());
    return elements && *elements <= 2 * quantize::kFloatsInCache;
  }
  return asWords && areTooFewForWords(conv, ofInput);
}

/// Four channels are multiplied at once, as words in two instructions.
static bool isAsFastInFloats(nn::ConvTransposeOp conv, bool asWords) {
  int64_t channels =
      shapeOf(conv.getW())[0] / std::max<int64_t>(conv.getGroups(), 1);
  return channels <= (asWords ? 3 : 2);
}

/// Rows that the model is given, times few columns, take as long to be rounded
/// as words save, or pairs of bytes, in which enough rows are multiplied. One
/// row waits for weights, and open numbers of them may be one.
static bool isAsFastInFloats(nn::MatMulOp matmul, bool ofInput, bool asWords) {
  constexpr int64_t kFewColumns = 32;
  if (!asWords || !ofInput || !matmul.getType().hasStaticShape())
    return false;
  int64_t columns = 0;
  for (Operation *user : matmul.getA().getUsers()) {
    if (!isa<nn::MatMulOp>(user))
      return false;
    columns += shapeOf(user->getResult(0)).back();
  }
  int64_t rows = productOf(matmul.getType().getShape().drop_back());
  return rows > 1 && (rows < quantize::kRowsOfPairs ? columns <= kFewColumns
                                                    : columns < kFewColumns);
}

bool quantize::isAsFastInFloats(Operation *product, bool ofInput,
                                bool asWords) {
  if (auto conv = dyn_cast<nn::ConvOp>(product))
    return ::isAsFastInFloats(conv, ofInput, asWords);
  if (auto conv = dyn_cast<nn::ConvTransposeOp>(product))
    return ::isAsFastInFloats(conv, asWords);
  return ::isAsFastInFloats(cast<nn::MatMulOp>(product), ofInput, asWords);
}
