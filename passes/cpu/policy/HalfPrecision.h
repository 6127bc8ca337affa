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

/// Returns true if weights of f16 are no slower than weights of f32. A task
/// widens its weights once for all its rows. This pays only if no cache holds
/// the model's `allWeights` weights. In addition, many rows must share the
/// widened weights, or so few rows that reading weights takes most of the time.
/// Declines if there are few weights. With dynamic sizes, also declines few
/// channels, because pixels are then copied for each tile.
Answer<bool> isForF16Weights(mlir::Operation *op, int64_t allWeights);

/// Returns true if sums of f16 save more than widening them costs.
Answer<bool> isForF16(mlir::Operation *op);

/// Says why it does not pay to add products of `op` as f16. Each run of k
/// widens its sums once, which takes as long as about ten products. So a run
/// needs many terms. Depthwise convolutions always pay. They multiply f32, but
/// read half of the bytes.
Reason whyNotF16Sums(mlir::Operation *op);
bool isWorthF16Sums(mlir::Operation *op);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_POLICY_HALFPRECISION_H
