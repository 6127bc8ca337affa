//===- RecurrentDirections.h - loops over time side by side -----*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_KERNEL_RECURRENTDIRECTIONS_H
#define INGOT_PASSES_KERNEL_RECURRENTDIRECTIONS_H

#include "passes/kernel/RecurrentLoop.h"

namespace ingot::kernel {

/// Returns true if `first` and `second`, a later loop, can become directions of
/// one kernel. One cell must compute both, and neither may depend on the other.
/// Moves the users of `first` behind `second`.
bool joinDirections(RecurrentLoop &first, RecurrentLoop &second);

} // namespace ingot::kernel

#endif // INGOT_PASSES_KERNEL_RECURRENTDIRECTIONS_H
