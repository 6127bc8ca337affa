//===- ComputedFourier.h - transforms of computed form ----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LEGALIZE_SIGNAL_COMPUTEDFOURIER_H
#define INGOT_PASSES_LEGALIZE_SIGNAL_COMPUTEDFOURIER_H

#include "passes/legalize/core/Legalize.h"

namespace ingot::legalize {

/// DFT along `axis`, or one that only the run knows; of any length, which may
/// be open.
LogicalResult legalizeComputedDFT(Node &node, std::optional<int64_t> axis);

/// STFT with frames of any length, which may be open.
LogicalResult legalizeComputedSTFT(Node &node);

/// The single integer of an input, as an index. Reports one that is none.
mlir::FailureOr<Value> computedScalar(Node &node, size_t i,
                                      llvm::StringRef name);

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_SIGNAL_COMPUTEDFOURIER_H
