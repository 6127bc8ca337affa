//===- ExcessWeights.h - few weights beyond int8 ----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tensor of uint8 weights has all values from 0 to 255. Less a zero point
// other than 128, the largest or the smallest of them exceed int8. They are
// usually a handful. A convolution multiplies the weights bounded by int8. Each
// remainder is multiplied by one channel of the data, as one tap sees it:
//
//     conv(x, w) = conv(x, bounded w) + sum of x[channel, tap] * remainder
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LEGALIZE_QUANT_EXCESSWEIGHTS_H
#define INGOT_PASSES_LEGALIZE_QUANT_EXCESSWEIGHTS_H

#include "passes/legalize/core/Helpers.h"

#include <map>

namespace ingot::legalize {

/// Weights of a convolution as int8 plus remainders.
struct SplitWeights {
  /// The channel and the tap that remainders are multiplied by. Taps are
  /// counted in the order of the weights.
  struct Place {
    int64_t channel, tap;
    bool operator<(const Place &other) const {
      return std::tie(channel, tap) < std::tie(other.channel, other.tap);
    }
  };
  Value bytes;
  /// The remainders of all outputs at a place.
  std::map<Place, std::vector<double>> remainders;
};

/// Splits constant weights less their zero point, which may vary by output.
/// Returns nothing if a weight is computed, if remainders lie at more than a
/// few places, or if a remainder does not fit int8.
std::optional<SplitWeights> splitWeights(Node &node, Value weights, Value zero,
                                         int64_t groups);

/// Returns true if `addRemainders` knows the sizes of `conv` that it needs.
bool takesRemainders(nn::ConvOp conv);

/// Adds the products of the remainders to `sums`. `conv` multiplied the bytes;
/// its padding counts as `zero`, the i32 zero point of the data, or null for 0.
FailureOr<Value> addRemainders(Node &node, Value sums, nn::ConvOp conv,
                               Value zero, const SplitWeights &weights);

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_QUANT_EXCESSWEIGHTS_H
