//===- Thresholds.h - what was measured of CPUs -----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rows of Thresholds.inc as C++: `threshold::fewRows`, and
// `threshold::floatsInCache(target)` for shares of a cache.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_POLICY_THRESHOLDS_H
#define INGOT_PASSES_CPU_POLICY_THRESHOLDS_H

#include "dialects/ingot/TargetInfo.h"

namespace ingot::cpu::threshold {

#define INGOT_THRESHOLD(NAME, VALUE, UNIT, MEASURED, MEANING)                  \
  inline constexpr auto NAME = VALUE;
#define INGOT_CACHE_SHARE(NAME, CACHE, NUMERATOR, DENOMINATOR, UNIT, MEASURED, \
                          MEANING)                                             \
  inline int64_t NAME(const TargetNumbers &target) {                           \
    return target.CACHE * (NUMERATOR) / (DENOMINATOR);                         \
  }
#include "passes/cpu/policy/Thresholds.inc"

} // namespace ingot::cpu::threshold

#endif // INGOT_PASSES_CPU_POLICY_THRESHOLDS_H
