//===- AmxTiles.h - products of AMX tiles -----------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A register tile is 2 x 2 AMX accumulators of `amxRows` rows by 16 columns, or
// fewer at a border. Further AMX tiles hold two tiles of weights and one or two
// of src. All AMX tiles of a kind have one shape throughout a kernel, because
// LLVM configures the registers once in a function. If a register tile has
// fewer than two times `amxRows` rows, its AMX tiles overlap. Their common rows
// are computed twice, with equal results.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_ISA_AMX_AMXTILES_H
#define INGOT_PASSES_CPU_ISA_AMX_AMXTILES_H

#include "passes/cpu/products/Products.h"

namespace ingot::cpu {

Accumulators zeroAmxTiles(IndexBuilder &b, const Tile &tile);

/// Computes `multiplyAdd` with AMX tiles. Only the first row and the stride of
/// `rows` are used. Nothing behind the `depth` elements of a run is read.
Accumulators multiplyAddAmx(IndexBuilder &b, const TileWeights &weights,
                            const SrcRows &rows, int64_t depth,
                            const Accumulators &start);

/// Stores the accumulators from `to[at]` on; rows are `pitch` elements apart.
void storeAmxTiles(IndexBuilder &b, const Tile &tile, const Accumulators &sums,
                   mlir::Value to, Index at, int64_t pitch);

/// Stores the accumulators row by row on the stack of the kernel.
mlir::Value spillAmxTiles(IndexBuilder &b, const Tile &tile,
                          const Accumulators &sums);

/// Writes `count` elements of `value` from `to[at]` on. May write up to a
/// vector more behind them.
void fillRun(IndexBuilder &b, mlir::Value to, Index at, int64_t count,
             int64_t value);

/// Returns the elements of a vector that is as long as a row of an AMX tile.
int64_t amxRowElements(mlir::Type element);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_ISA_AMX_AMXTILES_H
