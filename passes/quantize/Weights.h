//===- Weights.h - constant weights as bytes --------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_QUANTIZE_WEIGHTS_H
#define INGOT_PASSES_QUANTIZE_WEIGHTS_H

#include "dialects/ingot/IngotDialect.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

#include <vector>

namespace ingot::quantize {

/// Calls `visit(channel, begin, end)` for all of `size` elements, those `inner`
/// of one channel that lie together at once: millions need no division each.
template <typename Visit>
void forEachRun(size_t size, size_t channels, size_t inner, Visit visit) {
  for (size_t begin = 0; begin < size;)
    for (size_t channel = 0; channel < channels; ++channel, begin += inner)
      visit(channel, begin, begin + inner);
}

/// Signed bytes with a scale for each output channel, and no zero point: from
/// -127 to 127, or from -64 to 64, of which two products with unsigned bytes
/// add up to less than 2^15, so that CPUs without dots of bytes multiply pairs.
struct QuantizedWeights {
  std::vector<double> bytes, scales;
  int64_t axis = 0;
  /// Whether these are the weights, but for what f32 rounds: each channel has
  /// multiples of a step, as those of networks trained for few bits do.
  bool isExact = true;
  /// Elements of one channel that lie together.
  int64_t inner = 1;

  size_t channelOf(size_t element) const {
    return size_t(int64_t(element) / inner % int64_t(scales.size()));
  }
  template <typename Visit> void forEachRun(Visit visit) const {
    quantize::forEachRun(bytes.size(), scales.size(), size_t(inner), visit);
  }
  /// The number of a weight when those of one channel come one after another.
  size_t inChannelOrder(size_t element) const {
    const size_t channels = scales.size(), of = size_t(inner);
    return channelOf(element) * (bytes.size() / channels) +
           element / (of * channels) * of + element % of;
  }
};

/// What weights become, unless they are multiples of a step.
struct WeightForm {
  /// 7 or 8.
  int bits = 8;
  /// Whether scales are to be so large that pairs of weights fit: PairFit.h.
  bool fitsPairs = false;
};

/// Those of constant floats, with output channels along `axis`, of 7 or 8 bits;
/// such that pairs along `pairedAxis` fit, if that does not cost too much.
QuantizedWeights
quantizeWeights(mlir::Value weights, int64_t axis, int bits,
                std::optional<int64_t> pairedAxis = std::nullopt);

/// The scale of `count` weights of one output channel, with the largest
/// magnitude `largest`. False if all are multiples of it.
bool findWeightScale(size_t count, llvm::function_ref<double(size_t)> at,
                     double largest, int bits, double &scale);

/// Whether all elements of a constant are finite.
bool areFinite(mlir::Value weights);

/// How weights of products are rounded, by the names of the products.
using WeightRoundings = llvm::StringMap<WeightRoundingAttr>;

WeightRoundings namedRoundings(CalibrationAttr calibration);

/// Makes constant weights of products bytes behind an nn.dequantize. Those of
/// several products are made once.
class WeightQuantizer {
public:
  /// Roundings are those of 8 bits, and of scales for the largest weights; 7
  /// bits have none.
  explicit WeightQuantizer(WeightForm form, WeightRoundings roundings = {})
      : form(form), roundings(form.bits == 8 ? std::move(roundings)
                                             : WeightRoundings()) {}
  /// Fails, and says why, if the rounding is not of so many weights.
  llvm::LogicalResult quantize(mlir::Operation *product);

private:
  WeightForm form;
  WeightRoundings roundings;
  /// By the weights, the channels' dimension and that of pairs.
  llvm::DenseMap<std::pair<mlir::Value, std::pair<int64_t, int64_t>>,
                 mlir::Value>
      weights;
};

} // namespace ingot::quantize

#endif // INGOT_PASSES_QUANTIZE_WEIGHTS_H
