//===- SmallGroups.h - groups of few channels -------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels multiply four channels of bytes at once. Of a group of fewer most are
// zeros, while floats of groups of two or four share vectors, and so do single
// channels of bytes.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_POLICY_SMALLGROUPS_H
#define INGOT_PASSES_CPU_POLICY_SMALLGROUPS_H

#include "passes/support/ExactSums.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace ingot::cpu {

/// Whether weights `O, C, …` of `groups` are of single channels, one output
/// each.
inline bool areDepthwise(llvm::ArrayRef<int64_t> weights, int64_t groups) {
  return groups > 1 && weights[1] == 1 && weights[0] == groups;
}

/// Whether they are of single channels, several outputs each: as many
/// convolutions of single channels, once these are repeated.
inline bool areRepeated(llvm::ArrayRef<int64_t> weights, int64_t groups) {
  return groups > 1 && weights[1] == 1 && weights[0] > groups;
}

/// Whether they are of groups that are multiplied faster as floats that hold
/// the bytes.
inline bool areSmallGroups(llvm::ArrayRef<int64_t> weights, int64_t groups) {
  constexpr int64_t kAtOnce = 4;
  if (groups == 1 || weights[1] == 1)
    return false;
  return weights[1] < kAtOnce ||
         (weights[1] == kAtOnce && weights[0] == kAtOnce * groups);
}

using support::areSumsExact;

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_POLICY_SMALLGROUPS_H
