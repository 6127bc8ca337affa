//===- Matrices.h - matrix instructions -------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layout of fragments is that of the PTX ISA, "Matrix multiply-accumulate
// operation using mma instruction". Let group = lane / 4 and t = lane % 4. A
// register holds e elements, and i is the index of an element in it.
// | A, register r: row group + 8 (r % 2), depth e t + i + 4 e (r / 2)
// | B, register r: depth e t + i + 4 e r, column group
// | C, register r: row group + 8 (r / 2), column 2 t + r % 2
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_EMUGPU_MATRICES_H
#define INGOT_TOOLS_EMUGPU_MATRICES_H

#include "tools/emugpu/Machine.h"

namespace emugpu {

/// Gathers all lanes of the warp, because a matrix instruction needs all of
/// them. Returns false if some have not arrived.
bool gatherWarp(Warp &warp, Mask &mask);

/// Returns the function that multiplies 16 rows and 8 columns of f16, bf16 or
/// tf32. Sums are f32, or f16 if `areHalves`.
Execute floatProductOf(Type type, unsigned depth, bool areHalves);

} // namespace emugpu

#endif // INGOT_TOOLS_EMUGPU_MATRICES_H
