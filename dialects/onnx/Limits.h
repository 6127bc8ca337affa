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

/// No tensor has more elements, and no limit is higher: sizes are multiplied in
/// many places, which this leaves room for.
constexpr int64_t kLargestTensor = int64_t(1) << 44;

/// What a loop may take unless the user says otherwise: no model is meant to
/// take more, and who waits for so many wants to be told.
constexpr int64_t kMostLoopSteps = 1'000'000'000;

/// The most dimensions of a tensor of the model: libingot loads no artifact
/// whose inputs or outputs have more.
constexpr int64_t kMostDimensions = 64;

} // namespace ingot::onnx

#endif // INGOT_DIALECTS_ONNX_LIMITS_H
