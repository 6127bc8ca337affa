//===- LoopsBackend.h - what linalg says ------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LOOPS_LOOPSBACKEND_H
#define INGOT_PASSES_LOOPS_LOOPSBACKEND_H

#include "passes/backend/Backend.h"

namespace ingot::loops {

/// Adds passes that lower the nn ops that are left to linalg, and fuse them.
void buildLower(mlir::OpPassManager &passes);

/// Returns the backend that lowers every op without a kernel to linalg loops.
const Backend &getBackend();

} // namespace ingot::loops

#endif // INGOT_PASSES_LOOPS_LOOPSBACKEND_H
