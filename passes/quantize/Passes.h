//===- Passes.h - passes that quantize --------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_QUANTIZE_PASSES_H
#define INGOT_PASSES_QUANTIZE_PASSES_H

#include "dialects/nn/NNDialect.h"
#include "passes/quantize/Int8Weights.h"
#include "passes/support/OptimizeFor.h"

#include "mlir/Pass/Pass.h"

namespace ingot {

#define GEN_PASS_DECL
#include "passes/quantize/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/quantize/Passes.h.inc"

} // namespace ingot

#endif // INGOT_PASSES_QUANTIZE_PASSES_H
