//===- CpuBackend.h - the backend of native kernels -------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_CPUBACKEND_H
#define INGOT_PASSES_CPU_CPUBACKEND_H

#include "passes/backend/Backend.h"

namespace ingot::cpu {

/// Returns the CPU backend. Its kernels are the ops of the cpu dialect.
const Backend &getBackend();

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_CPUBACKEND_H
