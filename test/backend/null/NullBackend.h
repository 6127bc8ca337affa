//===- NullBackend.h - a backend for tests ----------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TEST_BACKEND_NULL_NULLBACKEND_H
#define INGOT_TEST_BACKEND_NULL_NULLBACKEND_H

#include "passes/backend/Backend.h"
#include "test/backend/null/NullDialect.h"

#include "mlir/Pass/Pass.h"

namespace ingot {

#define GEN_PASS_DECL
#include "test/backend/null/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "test/backend/null/Passes.h.inc"

namespace null {

/// Key of the entry in an artifact's metadata that describes the code.
inline constexpr llvm::StringLiteral kRecord = "ingot.nowhere";

/// A backend of a device of its own, which computes nn.relu and nothing else.
const Backend &getBackend();

} // namespace null
} // namespace ingot

#endif // INGOT_TEST_BACKEND_NULL_NULLBACKEND_H
