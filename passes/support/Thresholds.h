//===- Thresholds.h - what was measured of shared phases --------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rows of Thresholds.inc as C++: `threshold::longRow`, and
// `threshold::chainedImages(target)` for shares of a cache.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_THRESHOLDS_H
#define INGOT_PASSES_SUPPORT_THRESHOLDS_H

#include "dialects/ingot/TargetInfo.h"

#include <type_traits>

namespace ingot::threshold {

#include "passes/support/ThresholdConstants.inc"

#include "passes/support/Thresholds.inc"

} // namespace ingot::threshold

#endif // INGOT_PASSES_SUPPORT_THRESHOLDS_H
