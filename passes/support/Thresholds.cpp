//===- Thresholds.cpp - what was measured of shared phases ----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/support/Thresholds.h"

#include "passes/support/ThresholdValues.inc"

namespace ingot::threshold {

#include "passes/support/Thresholds.inc"

} // namespace ingot::threshold
