//===- PairSums.h - bytes whose products fit in words -----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decides if the products of each pair of bytes fit int16 when added. Weights
// may be scaled so that they fit. A product reads groups of four neighbouring k
// at once. It adds the products of the first two k, and of the other two.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_PAIRSUMS_H
#define INGOT_PASSES_SUPPORT_PAIRSUMS_H

#include <algorithm>
#include <cstdint>

namespace ingot::support {

/// The number of elements of a group, and of a pair.
constexpr int64_t kPairGroup = 4, kPair = 2;

/// The largest sum of the weights of one sign in a pair: 255 * 128 is below
/// 32768.
constexpr int kMaxPairSum = 128;

/// Returns true if a sum of two products fits in int16. The factors are
/// unsigned bytes up to `largest`, and two weights.
inline bool fitsInt16(int x, int y, int64_t largest = 255) {
  int64_t positive = std::max(x, 0) + std::max(y, 0);
  int64_t negative = std::min(x, 0) + std::min(y, 0);
  return positive * largest <= INT16_MAX && negative * largest >= INT16_MIN;
}

} // namespace ingot::support

#endif // INGOT_PASSES_SUPPORT_PAIRSUMS_H
