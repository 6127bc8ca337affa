//===- Limits.h - what a model may ask for ----------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_ONNX_LIMITS_H
#define INGOT_DIALECTS_ONNX_LIMITS_H

#include <stdint.h>

namespace ingot::onnx {

/// Largest number of elements of a tensor. No option allows more, because sizes
/// are multiplied in many places and must not overflow.
constexpr int64_t kLargestTensor = int64_t(1) << 44;

/// Default limit on the iterations of a loop. Real models need fewer. If a loop
/// takes more, a message helps the user more than a long wait.
constexpr int64_t kMostLoopSteps = 1'000'000'000;

/// Largest rank of a tensor. libingot refuses artifacts with inputs or outputs
/// of a larger rank.
constexpr int64_t kMostDimensions = 64;

} // namespace ingot::onnx

#endif // INGOT_DIALECTS_ONNX_LIMITS_H
