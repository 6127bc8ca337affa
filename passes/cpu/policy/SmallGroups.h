//===- SmallGroups.h - groups of few channels -------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels multiply four channels of bytes at once, so a smaller group would
// leave bytes unused. As floats, several groups of two or four channels share a
// vector. Groups of one channel share a vector as floats or as bytes.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_POLICY_SMALLGROUPS_H
#define INGOT_PASSES_CPU_POLICY_SMALLGROUPS_H

#include "passes/cpu/policy/Thresholds.h"
#include "passes/support/Convolutions.h"
#include "passes/support/Shapes.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace ingot::cpu {

inline constexpr char kManyTaps[] =
    "is depthwise with many taps, for which the code of bytes is too long";
inline constexpr char kSmallGroups[] =
    "has few channels per group, and floats put several groups in a vector";

/// Returns true if several groups of a convolution with weights `O, C, …` share
/// a vector of f32. Each group must have two or four inputs, and as many
/// outputs as inputs.
inline bool shareVectors(llvm::ArrayRef<int64_t> weights, int64_t groups) {
  const int64_t size = weights[1];
  return groups > 1 && (size == 2 || size == 4) && weights[0] == size * groups;
}

/// Returns true if a depthwise convolution has so many taps that it multiplies
/// bytes in groups of four no faster than floats.
inline bool areManyTaps(llvm::ArrayRef<int64_t> weights, int64_t groups) {
  return support::haveSingleChannels(weights, groups) &&
         support::productOf(weights.drop_front(2)) >
             threshold::depthwiseMostByteTaps;
}

/// Returns true if int8 groups are multiplied faster as floats that hold the
/// bytes. With two channels, half of each product of four bytes would be zeros.
/// Groups that share vectors are faster as floats, too.
inline bool areSmallGroups(llvm::ArrayRef<int64_t> weights, int64_t groups) {
  if (groups == 1 || support::haveSingleChannels(weights, groups))
    return false;
  return weights[1] < threshold::leastByteGroup ||
         shareVectors(weights, groups);
}

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_POLICY_SMALLGROUPS_H
