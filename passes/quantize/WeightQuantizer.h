//===- WeightQuantizer.h - constant weights as int8 -------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_QUANTIZE_WEIGHTQUANTIZER_H
#define INGOT_PASSES_QUANTIZE_WEIGHTQUANTIZER_H

#include "dialects/ingot/IngotDialect.h"
#include "dialects/nn/NNDialect.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

#include <vector>

namespace ingot::quantize {

/// Calls `visit(channel, begin, end)` for each run of `inner` contiguous
/// elements of one channel. The runs cover all `size` elements. A visit per run
/// avoids a division for each element.
template <typename Visit>
void forEachRun(size_t size, size_t channels, size_t inner, Visit visit) {
  for (size_t begin = 0; begin < size;)
    for (size_t channel = 0; channel < channels; ++channel, begin += inner)
      visit(channel, begin, begin + inner);
}

/// Weights as signed 8-bit integers, with a scale for each output channel and
/// no zero point. The range is -127 to 127 with 8 bits, and -64 to 64 with 7
/// bits. With 7 bits, a sum of two weights times unsigned bytes is less than
/// 2^15. CPUs without dot-product instructions multiply pairs, whose sums must
/// fit in 16 bits.
struct QuantizedWeights {
  std::vector<double> bytes, scales;
  int64_t axis = 0;
  /// True if the quantized weights equal the original ones up to f32 rounding.
  /// This is the case if the weights of each channel are multiples of a step,
  /// as in networks trained for few bits.
  bool isExact = true;
  /// Number of contiguous elements of one channel.
  int64_t inner = 1;

  size_t channelOf(size_t element) const {
    return size_t(int64_t(element) / inner % int64_t(scales.size()));
  }
  template <typename Visit>
  void forEachRun(Visit visit) const {
    quantize::forEachRun(bytes.size(), scales.size(), size_t(inner), visit);
  }
  /// Returns the index of an element if weights are ordered by channel.
  size_t inChannelOrder(size_t element) const {
    const size_t channels = scales.size(), of = size_t(inner);
    return channelOf(element) * (bytes.size() / channels) +
           element / (of * channels) * of + element % of;
  }
};

/// The quantized form of weights that are not multiples of a step.
struct WeightForm {
  /// Number of bits, 7 or 8.
  int bits = 8;
  /// True if scales are increased until pairs of weights fit (PairFit.h).
  bool fitsPairs = false;
};

/// Quantizes constant float weights with output channels along `axis` to 7 or 8
/// bits. If `pairedAxis` is given, fits pairs along that axis unless this costs
/// too much accuracy.
QuantizedWeights
quantizeWeights(mlir::Value weights, int64_t axis, int bits,
                std::optional<int64_t> pairedAxis = std::nullopt);

/// Computes the scale of the `count` weights of one output channel, whose
/// largest magnitude is `largest`. Returns false if all weights are multiples
/// of the scale.
bool findWeightScale(size_t count, llvm::function_ref<double(size_t)> at,
                     double largest, int bits, double &scale);

/// Returns true if all elements of a constant are finite.
bool areFinite(mlir::Value weights);

/// The largest scale of sums of products of bytes, which are below 2^31.
constexpr double kMaxSumScale = 0x1p96;

/// Returns true if all elements of a constant are finite, and so small that
/// sums of their products with calibrated bytes are finite, too.
bool fitBytes(mlir::Value weights);

/// The roundings of products' weights, by the names of the products.
using WeightRoundings = llvm::StringMap<WeightRoundingAttr>;

WeightRoundings namedRoundings(CalibrationAttr calibration);

/// Replaces constant weights of products by int8 constants with an
/// nn.dequantize. Products that share weights share the result.
class WeightQuantizer {
public:
  /// Uses `roundings` only with 8 bits. A product that has a rounding does not
  /// get scales that fit pairs, because its rounding is for the original
  /// scales.
  explicit WeightQuantizer(WeightForm form, WeightRoundings roundings = {})
      : form(form),
        roundings(form.bits == 8 ? std::move(roundings) : WeightRoundings()) {}
  /// Quantizes the weights of `product`. Reports an error if the product's
  /// rounding is for another number of weights.
  llvm::LogicalResult quantize(mlir::Operation *product);

private:
  /// Quantizes weights that have a matrix for each batch. Each output of each
  /// batch has a scale.
  void quantizeBatches(nn::MatMulOp product);
  WeightRoundingAttr roundingOf(mlir::Operation *product) const;

  WeightForm form;
  WeightRoundings roundings;
  /// Weights with the rounding of the calibration, by the original weights and
  /// the channel dimension.
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, mlir::Value> rounded;
  /// Quantized weights by the original weights, the channel dimension and the
  /// paired dimension.
  llvm::DenseMap<std::pair<mlir::Value, std::pair<int64_t, int64_t>>,
                 mlir::Value>
      weights;
};

} // namespace ingot::quantize

#endif // INGOT_PASSES_QUANTIZE_WEIGHTQUANTIZER_H
