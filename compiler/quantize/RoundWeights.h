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

/// Rounds the weights of one output in sequence, down or up to a neighboring
/// integer. Minimizes the error of sums of products with data like the
/// calibration data. Later weights compensate for the rounding errors of
/// earlier ones. The method is LDLQ, which is GPTQ without inverses, limited to
/// the two neighbors as in AdaRound.
class WeightRounder {
public:
  /// `gram` is the Gram matrix of the data: `inner` rows of `inner` sums of
  /// products.
  WeightRounder(const std::vector<double> &gram, size_t inner);

  /// Sets `isUp` for each of `inner` weights to true if it is rounded up. The
  /// weights are in units of the step.
  void round(const double *steps, bool *isUp) const;

private:
  size_t inner;
  /// Indices of weights in the order of rounding.
  std::vector<size_t> order;
  /// Upper triangle: the share of each weight's error that a later weight
  /// compensates.
  std::vector<double> shares;
};

} // namespace ingot::quantize

#endif // INGOT_COMPILER_QUANTIZE_ROUNDWEIGHTS_H
