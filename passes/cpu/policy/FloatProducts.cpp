//===- FloatProducts.cpp - products that floats suit better ---------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/policy/FloatProducts.h"

#include "dialects/nn/Constants.h"
#include "passes/cpu/policy/SmallGroups.h"
#include "passes/cpu/policy/Thresholds.h"
#include "passes/support/Convolutions.h"
#include "passes/support/ExactSums.h"
#include "passes/support/Shapes.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;
using support::productOf;
using support::shapeOf;
using support::whyNotThreeByThree;

/// Returns the elements of a tensor, or of one sample if only the batch is
/// open. Returns nullopt if other sizes are open.
static std::optional<int64_t> countElements(Value x) {
  ArrayRef<int64_t> shape = shapeOf(x);
  int64_t ofSample = productOf(shape.drop_front());
  if (ShapedType::isDynamic(ofSample))
    return std::nullopt;
  return ShapedType::isDynamic(shape[0]) ? ofSample : shape[0] * ofSample;
}

bool cpu::takesFewerProducts(nn::ConvOp conv, int64_t leastPixels) {
  if (whyNotThreeByThree(conv))
    return false;
  int64_t pixels = productOf(shapeOf(conv.getResult()).drop_front(2));
  return ShapedType::isDynamic(pixels) || pixels >= leastPixels;
}

double cpu::shareOfTaps(nn::ConvOp conv, size_t dims) {
  ArrayRef<int64_t> x = shapeOf(conv.getX()).drop_front(2),
                    y = shapeOf(conv.getResult()).drop_front(2),
                    taps = shapeOf(conv.getW()).drop_front(2);
  double share = 1;
  for (size_t d = 0; d < dims; ++d) {
    int64_t stride = conv.getStrides()[d], pad = conv.getPads()[d], inside = 0;
    for (int64_t tap = 0; tap < taps[d]; ++tap) {
      // The rows in which the tap is on a pixel of [0, x) form a range.
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

Reason cpu::whyBytesAsFloats(nn::ConvOp conv) {
  ArrayRef<int64_t> weights = shapeOf(conv.getW());
  if (conv.getGroups() != 1) {
    if (areSmallGroups(weights, conv.getGroups()))
      return kSmallGroups;
    if (areManyTaps(weights, conv.getGroups()) && !Machine(conv).asInt16)
      return kManyTaps;
    return std::nullopt;
  }
  if (weights[1] <= threshold::byteFewChannels)
    return "has one or two channels, so that most bytes of each group of four "
           "would be zeros";
  return std::nullopt;
}

/// Says why floats are as fast in a depthwise convolution of rows or volumes.
/// Kernels convert the bytes of a row to floats, so bytes pay only if the data
/// come from memory. Int16 never pays for a row of many taps. Floats also win
/// in a volume with much padding, because they skip the taps there.
static Reason whyChannelsInFloats(nn::ConvOp conv, const Machine &machine) {
  ArrayRef<int64_t> taps = shapeOf(conv.getW()).drop_front(2);
  std::optional<int64_t> elements = countElements(conv.getX());
  const int64_t inCache = threshold::byteFloatsInCache(machine.numbers);
  if (taps.size() == 1) {
    if (machine.asInt16 && taps.back() > threshold::byteTapsAtOnce)
      return "is depthwise with many taps in a row, so that int16 saves no "
             "time";
    if (elements.value_or(0) <= inCache)
      return "is depthwise, and the cache holds its data as floats";
    return std::nullopt;
  }
  if (!elements)
    return std::nullopt;
  if (*elements <= (machine.asInt16
                        ? inCache
                        : threshold::byteVolumesInCache(machine.numbers)))
    return "is depthwise on a volume that the cache holds as floats";
  if (shareOfTaps(conv, taps.size() - 1) < threshold::byteLeastShareOfVolume)
    return "is depthwise on a volume with much padding, which floats skip";
  return std::nullopt;
}

/// Says why int16 does not pay in a convolution; it is at most twice as fast as
/// floats. With few terms, this gain is less than the time to round the model's
/// input. With 3x3 taps of few channels, Winograd's algorithm saves more in
/// floats.
static Reason whyTooFewForInt16(nn::ConvOp conv, bool ofInput) {
  ArrayRef<int64_t> w = shapeOf(conv.getW());
  if (conv.getGroups() != 1)
    return std::nullopt;
  if (ofInput && productOf(w.drop_front()) <= threshold::int16FewTerms)
    return "multiplies the model's input with few terms in each sum, where "
           "int16 does not pay for rounding";
  if ((w[1] < threshold::int16FewestWinogradChannels &&
       takesFewerProducts(conv, 0)) ||
      (w[1] <= threshold::int16FewWinogradChannels &&
       takesFewerProducts(conv, threshold::int16ManyWinogradPixels)))
    return "has 3x3 taps of few channels, where floats need fewer products by "
           "Winograd than int16";
  return std::nullopt;
}

/// Returns true if sums of bytes are exact for single channels, regardless of
/// how the constant weights are rounded to bytes.
static bool haveExactSums(nn::ConvOp conv) {
  auto type = cast<RankedTensorType>(conv.getW().getType());
  std::optional<std::vector<double>> weights =
      nn::getConstantDoubles(conv.getW());
  if (!weights)
    return false;
  const size_t each = weights->size() / size_t(type.getDimSize(0));
  for (size_t first = 0; first < weights->size(); first += each) {
    MutableArrayRef<double> channel(&(*weights)[first], each);
    double largest = 0;
    for (double weight : channel)
      largest = std::max(largest, std::abs(weight));
    for (double &weight : channel)
      weight = largest == 0 ? 0 : 127 * std::abs(weight) / largest + 1;
  }
  return support::areSumsExact(*weights, type.getDimSize(0));
}

static Reason whyAsFast(nn::ConvOp conv, bool ofInput, const Machine &machine) {
  ArrayRef<int64_t> w = shapeOf(conv.getW());
  if (!cast<ShapedType>(conv.getW().getType()).hasStaticShape())
    return std::nullopt;
  if (support::hasSingleChannels(conv)) {
    if (!haveExactSums(conv))
      return "is depthwise, with sums of bytes that are not exact in float32";
    if (areManyTaps(w, conv.getGroups()) && !machine.asInt16)
      return kManyTaps;
    if (w.size() != 4)
      return whyChannelsInFloats(conv, machine);
    return std::nullopt;
  }
  // Small groups are multiplied as floats, so that bytes only pay if data come
  // from memory.
  if (areSmallGroups(w, conv.getGroups())) {
    std::optional<int64_t> elements = countElements(conv.getX());
    if (elements && *elements <= threshold::byteGroupsInCache(machine.numbers))
      return "has " + std::to_string(w[1]) +
             " channels per group, and the cache holds its data as floats, of "
             "which several groups share a vector";
    return std::nullopt;
  }
  return machine.asInt16 ? whyTooFewForInt16(conv, ofInput) : std::nullopt;
}

/// Says why a transposed convolution is as fast in floats. Kernels for bytes
/// multiply groups of four channels. With few channels, most bytes of a group
/// are zeros.
static Reason whyAsFast(nn::ConvTransposeOp conv, const Machine &machine) {
  int64_t channels =
      shapeOf(conv.getW())[0] / std::max<int64_t>(conv.getGroups(), 1);
  if (channels <= (machine.asInt16 ? threshold::transposedFewChannelsAsInt16
                                   : threshold::transposedFewChannels))
    return "has few channels, so that most bytes of each group of four would "
           "be zeros";
  return std::nullopt;
}

/// Says why a matrix product of the model's input is as fast in floats. With
/// few columns, bytes save no more time than rounding the rows takes. Bytes
/// always pay for a single row, because reading the weights limits its speed. A
/// dynamic number of rows may be one.
static Reason whyAsFast(nn::MatMulOp matmul, bool ofInput,
                        const Machine &machine) {
  if (!machine.asInt16 || !ofInput || !matmul.getType().hasStaticShape())
    return std::nullopt;
  int64_t columns = 0;
  for (Operation *user : matmul.getA().getUsers()) {
    if (!isa<nn::MatMulOp>(user))
      return std::nullopt;
    columns += shapeOf(user->getResult(0)).back();
  }
  int64_t rows = productOf(matmul.getType().getShape().drop_back());
  if (rows > 1 && (rows < threshold::pairedFewestRows
                       ? columns <= threshold::int16FewColumns
                       : columns < threshold::int16FewColumns))
    return "multiplies rows of the model's input by few columns, where int16 "
           "does not pay for rounding";
  return std::nullopt;
}

Reason cpu::whyAsFastInFloats(Operation *product, bool ofInput,
                              const Machine &machine) {
  if (auto conv = dyn_cast<nn::ConvOp>(product))
    return whyAsFast(conv, ofInput, machine);
  if (auto conv = dyn_cast<nn::ConvTransposeOp>(product))
    return whyAsFast(conv, machine);
  return whyAsFast(cast<nn::MatMulOp>(product), ofInput, machine);
}
