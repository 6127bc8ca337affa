//===- SizeChecks.h - branches that only check sizes ------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_MEMORY_SIZECHECKS_H
#define INGOT_PASSES_MEMORY_SIZECHECKS_H

#include "mlir/IR/Operation.h"

namespace ingot {

/// Returns true if `op` is a branch without results that contains only checks
/// and scalar arithmetic.
bool holdsChecksOnly(mlir::Operation *op);

} // namespace ingot

#endif // INGOT_PASSES_MEMORY_SIZECHECKS_H
