//===- Passes.td - all passes of Ingot ---------------------*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_TD
#define INGOT_PASSES_TD

include "passes/legalize/Passes.td"
include "passes/shape/Passes.td"
include "passes/graph/Passes.td"
include "passes/layout/Passes.td"
include "passes/fuse/Passes.td"
include "passes/lower/Passes.td"
include "passes/memory/Passes.td"
include "passes/codegen/Passes.td"

#endif // INGOT_PASSES_TD
