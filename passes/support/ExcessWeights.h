//===- ExcessWeights.h - few weights beyond int8 ----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tensor of uint8 weights has all values from 0 to 255. Less a zero point
// other than 128, the largest or the smallest of them exceed int8. They are
// usually a handful. A product multiplies the weights bounded by int8. Each
// remainder is multiplied by one channel of the data, as one tap sees it:
//
//     conv(x, w) = conv(x, bounded w) + sum of x[channel, tap] * remainder
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_EXCESSWEIGHTS_H
#define INGOT_PASSES_SUPPORT_EXCESSWEIGHTS_H

#include "dialects/nn/NNDialect.h"

#include "mlir/IR/Builders.h"

#include <map>
#include <optional>
#include <tuple>
#include <vector>

namespace ingot::support {

/// The data that a weight is multiplied by: a channel, and a tap in the order
/// of the weights. For a matrix product, the channel is a column of the data.
struct WeightPlace {
  int64_t channel, tap;
  bool operator<(const WeightPlace &other) const {
    return std::tie(channel, tap) < std::tie(other.channel, other.tap);
  }
};

/// The remainders of all outputs at each place that has remainders.
using Remainders = std::map<WeightPlace, std::vector<double>>;

/// Bounds the weights `O, C, taps…` of a convolution by int8, and returns their
/// remainders. The weights are integers less their zero points. Returns nullopt
/// and changes nothing if remainders lie at so many places that sums of the
/// data cost less.
std::optional<Remainders> splitConvWeights(std::vector<double> &weights,
                                           llvm::ArrayRef<int64_t> shape,
                                           int64_t groups);

/// Bounds a matrix of weights in the same way. It has a column for each output,
/// or a row.
std::optional<Remainders> splitMatrix(std::vector<double> &weights,
                                      int64_t outputs, bool hasColumns);

/// Returns true if `dataAt` knows the sizes of `conv` that it needs.
bool takesRemainders(nn::ConvOp conv);

/// Returns the data that `conv` multiplies by the weights at `place`. Data in
/// the padding are its zero point.
mlir::Value dataAt(mlir::OpBuilder &builder, nn::ConvOp conv,
                   const WeightPlace &place);

/// Returns a column of the rows `x`.
mlir::Value columnOf(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Value x, int64_t column);

} // namespace ingot::support

#endif // INGOT_PASSES_SUPPORT_EXCESSWEIGHTS_H
