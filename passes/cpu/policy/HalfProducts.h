//===- HalfProducts.h - what is multiplied as bf16 or f16 -------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The answers of CpuPolicy to the questions about halves, without estimates.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_POLICY_HALFPRODUCTS_H
#define INGOT_PASSES_CPU_POLICY_HALFPRODUCTS_H

#include "passes/backend/Policy.h"
#include "passes/support/Reason.h"

namespace ingot::cpu {

/// Rounding the factors of `op` must cost less than products of bf16 save.
Answer<bool> isForBF16(mlir::Operation *op);

/// Weights of f16 must be no slower than weights of f32. They are widened once
/// for all rows of a task. The model's other weights hide that if no cache
/// holds them and there are rows enough, or if few rows wait for weights. Few
/// weights are not worth it. Few channels are copied for one tile of pixels at
/// a time if only a run knows how long rows are.
Answer<bool> isForHalfWeights(mlir::Operation *op, int64_t allWeights);

/// Sums of f16 must save more than widening them costs.
Answer<bool> isForF16(mlir::Operation *op);

/// Why it does not pay to add products of `op` up as f16 first. Sums of f16 are
/// widened once a run of k, which takes as long as some ten products. Groups of
/// few channels go by vectors of f32. Depthwise filters multiply f32, too, but
/// read half of the bytes.
Reason whyNotHalfSums(mlir::Operation *op);
bool isWorthHalfSums(mlir::Operation *op);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_POLICY_HALFPRODUCTS_H
