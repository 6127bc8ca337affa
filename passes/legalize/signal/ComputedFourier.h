//===- ComputedFourier.h - DFT and STFT of dynamic length -------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LEGALIZE_SIGNAL_COMPUTEDFOURIER_H
#define INGOT_PASSES_LEGALIZE_SIGNAL_COMPUTEDFOURIER_H

#include "passes/legalize/core/Legalize.h"

namespace ingot::legalize {

/// Legalizes DFT of any length, also dynamic, along `axis`. Without `axis`, the
/// axis is computed at run time.
LogicalResult legalizeComputedDFT(Node &node, std::optional<int64_t> axis);

/// Legalizes STFT with frames of any length, also dynamic.
LogicalResult legalizeComputedSTFT(Node &node);

/// Returns the single integer of an input as an index. Reports other inputs.
mlir::FailureOr<Value> computedScalar(Node &node, size_t i,
                                      llvm::StringRef name);

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_SIGNAL_COMPUTEDFOURIER_H
