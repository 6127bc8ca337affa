//===- NativeSupport.h - what kernels of our own compute --------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_LOWER_NATIVESUPPORT_H
#define INGOT_PASSES_CPU_LOWER_NATIVESUPPORT_H

#include "passes/support/Reason.h"

#include <cstdint>

namespace ingot::cpu {

/// Vectors of fewer channels would be empty for the most part: such pixels are
/// elements of a row.
inline constexpr int64_t kFewChannels = 8;

/// Whether there are native kernels for ops of this kind.
bool isNativeKind(mlir::Operation *op);

/// Why no native kernel takes `op`, whose kind has some.
Reason whyNotNative(mlir::Operation *op);

/// Why nn-to-cpu leaves `op` alone: another backend computes it, or what
/// whyNotNative says.
Reason whyNotToCpu(mlir::Operation *op);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_LOWER_NATIVESUPPORT_H
