//===- Products.h - sums of products in registers ---------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The inner loop of convolutions and matrix products, for each kind of product.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_PRODUCTS_PRODUCTS_H
#define INGOT_PASSES_CPU_PRODUCTS_PRODUCTS_H

#include "passes/cpu/kernels/Prefetch.h"

namespace ingot::cpu {

/// The group at `data[at]` as an i32, with zeros behind `count` elements.
mlir::Value loadGroup(IndexBuilder &b, mlir::Value data, Index at,
                      int64_t count);

/// Adds the products of `depth` elements of the rows and the weights: the group
/// of vector v that holds element k starts at
/// `weights[weightsAt + k * panel + v * lanes * group]`. Rows of bf16 that are
/// multiplied as f32 are given as such; weights that are multiplied as words
/// may be `WideWeights`, then `panel` is half of the columns of the tile.
Accumulators multiplyAdd(IndexBuilder &b, const Tile &tile, const SrcRows &rows,
                         mlir::Value weights, Index weightsAt, int64_t panel,
                         int64_t depth, const Accumulators &start,
                         const NextWeights &next = {});

/// The same for rows as src has them, all of which take part: over copies of
/// them in the stack of the kernel of `op` if they have to be widened, or may
/// lie so that they collide in the first-level cache.
Accumulators multiplyAddWhole(IndexBuilder &b, const Tile &tile,
                              const SrcRows &rows, mlir::Value weights,
                              Index weightsAt, int64_t panel, int64_t depth,
                              const Accumulators &start, mlir::Operation *op,
                              const NextWeights &next = {});

/// x + y, of floats or of integers.
mlir::Value addSums(IndexBuilder &b, mlir::Value x, mlir::Value y);

/// Sums that are added up beside each other where the tile has so few rows that
/// each would wait for the one before; no panel is wider than `width`.
int64_t sumsBeside(const TargetInfo &target, const Tile &tile, int64_t width);
/// Adds up the sums of a tile that are there `steps` times, one behind the
/// other.
void addUp(IndexBuilder &b, Accumulators &sums, int64_t steps);

/// Sums of f16 for a tile of `Product::f16Dot`, of even and of odd k apart, and
/// what becomes of `sums` when they are added: see HalfSums.cpp. Rows that do
/// not take part have none.
Accumulators zeroHalves(IndexBuilder &b, const Tile &tile);
Accumulators addHalves(IndexBuilder &b, const Tile &tile, const SrcRows &rows,
                       const Accumulators &halves, const Accumulators &sums);

/// Copies `count` elements from `data[from[i]]` on to `to[at[i]]`, for each i
/// in turn; bf16 may become f32. Up to a vector behind them is written too.
void copyRuns(IndexBuilder &b, int64_t lanes, mlir::Value data,
              llvm::ArrayRef<Index> from, mlir::Value to,
              llvm::ArrayRef<Index> at, int64_t count);

/// Copies `count` bytes from `data[from[i]]` on as words, those of a group in
/// two elements of i32: the even ones to `to[at[i] + k]`, the odd ones `odd`
/// elements behind, zeros behind the last byte. Writes nothing else.
void copyAsWords(IndexBuilder &b, int64_t lanes, mlir::Value data,
                 llvm::ArrayRef<Index> from, mlir::Value to,
                 llvm::ArrayRef<Index> at, int64_t odd, int64_t count);

/// How many of `depth` elements to copy at a time, near `most`: equal parts of
/// whole groups if there are any.
int64_t copiedAtOnce(int64_t depth, int64_t most, int64_t group);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_PRODUCTS_PRODUCTS_H
