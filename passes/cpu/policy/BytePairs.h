//===- BytePairs.h - bytes whose products fit in words ----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Without VNNI the fastest instruction for bytes is `vpmaddubsw`, which adds
// two products as a word and saturates. Groups of four neighbouring k are what
// a product reads at once; it adds the products of the first two, and of the
// other two.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_POLICY_BYTEPAIRS_H
#define INGOT_PASSES_CPU_POLICY_BYTEPAIRS_H

#include <algorithm>
#include <cstdint>

namespace ingot::cpu {

/// The elements of a group, and of a pair.
constexpr int64_t kPairGroup = 4, kPair = 2;

/// What weights of one sign may add up to in a pair: 255 * 128 is below 32768.
constexpr int kMostPairSum = 128;

/// Whether the products of unsigned bytes of `largest` at most with two weights
/// fit in a word.
inline bool fitsWords(int x, int y, int64_t largest = 255) {
  int64_t positive = std::max(x, 0) + std::max(y, 0);
  int64_t negative = std::min(x, 0) + std::min(y, 0);
  return positive * largest <= INT16_MAX && negative * largest >= INT16_MIN;
}

/// Whether groups are few and many enough to be multiplied by pairs: those of
/// one output, of which `ofRun` lie together in memory. Lists of them stay in a
/// quarter of the first-level cache, at 8 bytes each; of shorter runs a loop
/// for each kind of group is not worth it.
inline bool suitsPairs(int64_t ofRun, int64_t all) {
  constexpr int64_t kLeast = 8, kMost = 4096;
  return ofRun >= kLeast && all <= kMost;
}

/// Fewer rows are not worth sorting the groups, which costs as much as
/// multiplying them with about two.
constexpr int64_t kLeastPairRows = 32;

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_POLICY_BYTEPAIRS_H
