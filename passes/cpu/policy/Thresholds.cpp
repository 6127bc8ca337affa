//===- Thresholds.cpp - measured limits of CPUs -------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/policy/Thresholds.h"

#include "passes/support/ThresholdValues.inc"

namespace ingot::cpu::threshold {

#include "passes/cpu/policy/Thresholds.inc"

} // namespace ingot::cpu::threshold
