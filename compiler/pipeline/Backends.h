//===- Backends.h - the backends of this compiler ---------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_PIPELINE_BACKENDS_H
#define INGOT_COMPILER_PIPELINE_BACKENDS_H

#include "passes/backend/Backend.h"

namespace ingot {

/// Returns all backends of Backends.inc, in the order in which their passes
/// run.
llvm::ArrayRef<const Backend *> getBackends();

/// Returns the backends of one device, in the same order.
llvm::SmallVector<const Backend *> getBackends(const Device &device);

/// Returns the backend called `name`, or null.
const Backend *findBackend(llvm::StringRef name);

} // namespace ingot

#endif // INGOT_COMPILER_PIPELINE_BACKENDS_H
