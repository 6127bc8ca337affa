//===- Passes.h - assignment of ops to backends -----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_BACKEND_PASSES_H
#define INGOT_PASSES_BACKEND_PASSES_H

#include "dialects/ingot/IngotDialect.h"

#include "mlir/Pass/Pass.h"

namespace ingot {

#define GEN_PASS_DECL
#include "passes/backend/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/backend/Passes.h.inc"

} // namespace ingot

#endif // INGOT_PASSES_BACKEND_PASSES_H
