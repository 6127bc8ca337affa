//===- AmxTiles.h - products of AMX tiles -----------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A register tile is 2 x 2 AMX accumulators of `amxRows` rows by 16 columns, or
// fewer at a border; two more AMX tiles hold weights, one or two rows of src.
// All of a kind have one shape throughout a kernel: LLVM configures the
// registers once in a function. So a register tile that is not two times
// `amxRows` high has AMX tiles that overlap, whose common rows are computed
// twice, alike.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_ISA_AMX_AMXTILES_H
#define INGOT_PASSES_CPU_ISA_AMX_AMXTILES_H

#include "passes/cpu/products/Products.h"

namespace ingot::cpu {

Accumulators zeroAmxTiles(IndexBuilder &b, const Tile &tile);

/// `multiplyAdd` for AMX tiles: of `rows` the first and the stride count.
/// Nothing behind the run's `depth` elements is read.
Accumulators multiplyAddAmx(IndexBuilder &b, const TileWeights &weights,
                            const SrcRows &rows, int64_t depth,
                            const Accumulators &start);

/// Stores the accumulators to `to[at]` and on, a row every `pitch` elements.
void storeAmxTiles(IndexBuilder &b, const Tile &tile, const Accumulators &sums,
                   mlir::Value to, Index at, int64_t pitch);

/// Stores the accumulators, row by row, on the stack of the kernel.
mlir::Value spillAmxTiles(IndexBuilder &b, const Tile &tile,
                          const Accumulators &sums);

/// Writes `count` elements of `value` to `to[at]` and on; up to a vector behind
/// them too.
void fillRun(IndexBuilder &b, mlir::Value to, Index at, int64_t count,
             int64_t value);

/// Elements of a vector as long as a row of an AMX tile.
int64_t amxRowElements(mlir::Type element);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_ISA_AMX_AMXTILES_H
