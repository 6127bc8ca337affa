//===- ExactSums.h - sums of bytes that f32 holds ---------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_EXACTSUMS_H
#define INGOT_PASSES_SUPPORT_EXACTSUMS_H

#include "llvm/ADT/ArrayRef.h"

#include <cmath>
#include <cstdint>

namespace ingot::support {

/// Returns true if f32 holds the sums of products exactly. One factor is an
/// unsigned byte minus a zero point, for any bytes. The other factor is a
/// weight. The weights of `outputs` lie one output after another. The answer
/// matters because kernels add single channels as floats.
inline bool areSumsExact(llvm::ArrayRef<double> weights, int64_t outputs) {
  constexpr double kMaxByte = 255, kMaxExact = 1 << 24;
  const size_t each = weights.size() / size_t(outputs);
  for (; !weights.empty(); weights = weights.drop_front(each)) {
    double total = 0;
    for (double weight : weights.take_front(each))
      total += std::abs(weight);
    if (kMaxByte * total > kMaxExact)
      return false;
  }
  return true;
}

} // namespace ingot::support

#endif // INGOT_PASSES_SUPPORT_EXACTSUMS_H
