//===- RoundWeights.h - rounding of weights ---------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_QUANTIZE_ROUNDWEIGHTS_H
#define INGOT_COMPILER_QUANTIZE_ROUNDWEIGHTS_H

#include <cstddef>
#include <vector>

namespace ingot::quantize {

/// Rounds the weights of one output one after the other, each to a neighboring
/// integer. Minimizes the error of sums of products with data like the
/// calibration data. Later weights compensate for the rounding errors of
/// earlier weights. The method is LDLQ, which is GPTQ without inverses. As in
/// AdaRound, only the two neighbors are considered.
class WeightRounder {
public:
  /// `gram` is the Gram matrix of the data, with `inner` rows and columns.
  WeightRounder(const std::vector<double> &gram, size_t inner);

  /// Sets `isUp` to true for each of the `inner` weights that is rounded up.
  /// The weights are given in units of the quantization step.
  void round(const double *steps, bool *isUp) const;

private:
  size_t inner;
  /// Indices of weights in the order of rounding.
  std::vector<size_t> order;
  /// Upper triangle: for each pair of weights, the share of the first one's
  /// error that the later one compensates.
  std::vector<double> shares;
};

} // namespace ingot::quantize

#endif // INGOT_COMPILER_QUANTIZE_ROUNDWEIGHTS_H
