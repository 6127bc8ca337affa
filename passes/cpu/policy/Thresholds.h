//===- Thresholds.h - measured limits of CPUs -------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rows of Thresholds.inc as C++, e.g. `threshold::openTileRows`. Shares of
// a cache are functions, e.g. `threshold::farWeights(target)`.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_POLICY_THRESHOLDS_H
#define INGOT_PASSES_CPU_POLICY_THRESHOLDS_H

#include "dialects/ingot/TargetInfo.h"

#include <type_traits>

namespace ingot::cpu::threshold {

#include "passes/support/ThresholdConstants.inc"

#include "passes/cpu/policy/Thresholds.inc"

} // namespace ingot::cpu::threshold

#endif // INGOT_PASSES_CPU_POLICY_THRESHOLDS_H
