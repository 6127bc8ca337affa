//===- Passes.h - from nn to linalg -----------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LOOPS_PASSES_H
#define INGOT_PASSES_LOOPS_PASSES_H

#include "dialects/ingot/IngotDialect.h"
#include "passes/support/Thresholds.h"

#include "mlir/Pass/Pass.h"

namespace ingot {

#define GEN_PASS_DECL
#include "passes/loops/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/loops/Passes.h.inc"

} // namespace ingot

#endif // INGOT_PASSES_LOOPS_PASSES_H
