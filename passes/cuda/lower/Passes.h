//===- cuda/lower/Passes.h - from nn to kernels of GPUs ---------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CUDA_LOWER_PASSES_H
#define INGOT_PASSES_CUDA_LOWER_PASSES_H

#include "dialects/ingot/IngotDialect.h"

#include "mlir/Pass/Pass.h"

namespace ingot {

#define GEN_PASS_DECL
#include "passes/cuda/lower/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/cuda/lower/Passes.h.inc"

} // namespace ingot

#endif // INGOT_PASSES_CUDA_LOWER_PASSES_H
