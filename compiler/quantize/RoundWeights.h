//===- RoundWeights.h - weights that make up for each other -----*- C++ -*-===//
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

/// Rounds the weights of one output after another to the whole numbers below or
/// above them, so that the sums of products with data that are like those seen
/// lose least: what rounding one weight does to a sum, those that are rounded
/// later make up for as far as they can (GPTQ, in the form without inverses
/// that is called LDLQ, held to the two neighbours as AdaRound does).
class WeightRounder {
public:
  /// `gram` has for each two numbers that weights are multiplied by the sum of
  /// their products: `inner` rows of `inner`.
  WeightRounder(const std::vector<double> &gram, size_t inner);

  /// Of `inner` weights, counted in steps, whether each is rounded up.
  void round(const double *steps, bool *isUp) const;

private:
  size_t inner;
  /// The numbers of weights in the order in which they are rounded.
  std::vector<size_t> order;
  /// Above the diagonal, by how much of an error each later weight changes.
  std::vector<double> shares;
};

} // namespace ingot::quantize

#endif // INGOT_COMPILER_QUANTIZE_ROUNDWEIGHTS_H
