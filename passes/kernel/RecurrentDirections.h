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

/// Returns whether `first` and `second`, a loop below it, can become directions
/// of one kernel. One cell must compute both, and neither may need the other.
/// Then moves ops that need `first` behind `second`.
bool joinDirections(RecurrentLoop &first, RecurrentLoop &second);

} // namespace ingot::kernel

#endif // INGOT_PASSES_KERNEL_RECURRENTDIRECTIONS_H
