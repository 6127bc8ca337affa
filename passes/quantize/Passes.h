//===- Passes.h - passes that quantize --------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_QUANTIZE_PASSES_H
#define INGOT_PASSES_QUANTIZE_PASSES_H

#include "dialects/nn/NNDialect.h"
#include "passes/support/OptimizeFor.h"

#include "mlir/Pass/Pass.h"

namespace ingot {
namespace quantize {

/// Weights of all products that could read them packed, from which on they do:
/// 1 MiB of floats. Fewer stay in the second-level cache of a core, where
/// floats come as fast as a few rows are multiplied: unpacking takes up to a
/// quarter longer with 4 to 40 rows, and saves less than 1 MiB of an artifact.
constexpr int64_t kWorthPacking = 1 << 18;

} // namespace quantize

#define GEN_PASS_DECL
#include "passes/quantize/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/quantize/Passes.h.inc"

} // namespace ingot

#endif // INGOT_PASSES_QUANTIZE_PASSES_H
