//===- Calls.h - the functions that the emulated driver exports -*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_EMUGPU_DRIVER_CALLS_H
#define INGOT_TOOLS_EMUGPU_DRIVER_CALLS_H

#include "tools/emugpu/driver/State.h"

extern "C" {
#define INGOT_DECLARE(NAME, TYPES)                                             \
  __attribute__((visibility("default"))) ingot::cuda::Result NAME TYPES;
INGOT_CUDA_DRIVER_FUNCTIONS(INGOT_DECLARE)
INGOT_CUDA_GRAPH_FUNCTIONS(INGOT_DECLARE)
#undef INGOT_DECLARE
}

#endif // INGOT_TOOLS_EMUGPU_DRIVER_CALLS_H
