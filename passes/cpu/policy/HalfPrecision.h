//===- HalfPrecision.h - products of bf16 and f16 ---------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The answers of CpuPolicy to questions about bf16 and f16, without estimates.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_POLICY_HALFPRECISION_H
#define INGOT_PASSES_CPU_POLICY_HALFPRECISION_H

#include "passes/backend/Policy.h"
#include "passes/support/Reason.h"

namespace ingot::cpu {

/// Returns true if products of bf16 save more than rounding the factors of `op`
/// costs.
Answer<bool> isForBF16(mlir::Operation *op);

/// Returns true if weights of f16 are no slower than weights of f32. They are
/// widened once for all rows of a task. Widening is hidden if no cache holds
/// the model's weights, and if many rows share them or few rows wait for them.
/// Few weights do not pay for widening. With few channels and rows of unknown
/// length, pixels are copied for one tile at a time.
Answer<bool> isForF16Weights(mlir::Operation *op, int64_t allWeights);

/// Returns true if sums of f16 save more than widening them costs.
Answer<bool> isForF16(mlir::Operation *op);

/// Says why adding products of `op` as f16 does not pay. Sums of f16 are
/// widened once for each run of k, which takes as long as some ten products.
/// Groups of few channels use vectors of f32. Depthwise filters multiply f32,
/// too, but read half of the bytes.
Reason whyNotF16Sums(mlir::Operation *op);
bool isWorthF16Sums(mlir::Operation *op);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_POLICY_HALFPRECISION_H
