//===- Ceilings.h - upper bounds of a GPU's speed ---------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_GPU_RUNNER_CEILINGS_H
#define INGOT_TOOLS_GPU_RUNNER_CEILINGS_H

#include "tools/gpu-runner/Gpu.h"

namespace ingot::gpu {

/// Returns the names of all ceilings, as a list of items.
Json ceilingItems();

/// Measures one of them. The row has the members "value" and "unit".
Json measureCeiling(const Json &item);

} // namespace ingot::gpu

#endif // INGOT_TOOLS_GPU_RUNNER_CEILINGS_H
