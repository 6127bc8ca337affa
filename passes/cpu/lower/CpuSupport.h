//===- CpuSupport.h - ops that native kernels support -----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_LOWER_CPUSUPPORT_H
#define INGOT_PASSES_CPU_LOWER_CPUSUPPORT_H

#include "passes/support/Reason.h"

#include <cstdint>

namespace ingot::cpu {

/// Returns true if native kernels exist for ops of this kind.
bool isCpuKind(mlir::Operation *op);

/// Says why no native kernel takes `op`. The kind of `op` must have native
/// kernels.
Reason whyNotCpuKernel(mlir::Operation *op);

/// Says why nn-to-cpu leaves `op` alone: another backend computes it, or
/// whyNotCpuKernel gives a reason.
Reason whyNotToCpu(mlir::Operation *op);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_LOWER_CPUSUPPORT_H
