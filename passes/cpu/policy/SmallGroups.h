//===- SmallGroups.h - groups of few channels -------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels multiply four channels of bytes at once, so that a smaller group
// would be mostly zeros. Groups of two or four channels share vectors as
// floats. Single channels of bytes share vectors, too.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_POLICY_SMALLGROUPS_H
#define INGOT_PASSES_CPU_POLICY_SMALLGROUPS_H

#include "passes/cpu/policy/Thresholds.h"
#include "passes/support/Convolutions.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace ingot::cpu {

inline constexpr char kSmallGroups[] =
    "has few channels of a group, which share a vector as floats";

/// Returns true if groups of weights `O, C, …` share vectors of f32. They must
/// have as many outputs as inputs, two or four, which divide a vector.
inline bool shareVectors(llvm::ArrayRef<int64_t> weights, int64_t groups) {
  const int64_t size = weights[1];
  return groups > 1 && (size == 2 || size == 4) && weights[0] == size * groups;
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
