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

/// Largest number of elements of a tensor. It leaves room for the
/// multiplication of sizes in many places, so no limit is higher.
constexpr int64_t kLargestTensor = int64_t(1) << 44;

/// Default limit on the iterations of a loop. No real model takes more, and a
/// user who waits for so many wants a message.
constexpr int64_t kMostLoopSteps = 1'000'000'000;

/// Largest rank of a tensor. libingot loads no artifact whose inputs or outputs
/// have a larger rank.
constexpr int64_t kMostDimensions = 64;

} // namespace ingot::onnx

#endif // INGOT_DIALECTS_ONNX_LIMITS_H
