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

struct PairLists;

/// The weights of a column tile as its product reads them: the group of vector
/// v that holds element k starts at
/// `data[at + k * panel + v * lanes * group]`. Weights that are multiplied as
/// words may be `WideWeights`; then `panel` is half of the tile's columns.
struct TileWeights {
  Tile tile;
  mlir::Value data;
  Index at;
  int64_t panel;
  /// The sorted groups, for a product that takes k by lists, and which of their
  /// runs rows are multiplied with.
  const PairLists *lists = nullptr;
  Index run = 0;

  /// The weights from element k on.
  TileWeights from(IndexBuilder &b, Index k) const;
};

/// Adds the products of `depth` elements of the rows and the weights, step by
/// step. Rows have the form that the product reads.
Accumulators multiplyAdd(IndexBuilder &b, const TileWeights &weights,
                         const SrcRows &rows, int64_t depth,
                         const Accumulators &start,
                         const NextWeights &next = {});

/// Adds the products of `depth` elements of the rows and the weights. Rows are
/// as src has them, and all take part: the product copies what it reads in
/// another form, or what may collide in the first-level cache.
Accumulators multiplyAddWhole(IndexBuilder &b, const TileWeights &weights,
                              const SrcRows &rows, int64_t depth,
                              const Accumulators &start,
                              const NextWeights &next = {});

/// Adds the products over copies of the rows, as f32 if the product reads
/// floats; half of the rows stay where they are otherwise.
Accumulators multiplyCopies(IndexBuilder &b, const TileWeights &weights,
                            const SrcRows &rows, int64_t depth,
                            const Accumulators &start, const NextWeights &next);

/// Groups that are copied of a row at a time: 14 rows of them then take less
/// than half of the first-level cache.
int64_t groupsCopied(const TargetInfo &target);

/// x + y, of floats or of integers.
mlir::Value addSums(IndexBuilder &b, mlir::Value x, mlir::Value y);

/// Sums that are added up beside each other where the tile has so few rows that
/// each would wait for the one before; no panel is wider than `width`.
int64_t sumsBeside(const TargetInfo &target, const Tile &tile, int64_t width);
/// Adds up the sums of a tile that are there `steps` times, one behind the
/// other.
void addUp(IndexBuilder &b, Accumulators &sums, int64_t steps);

/// The starts of runs of elements in `data`.
struct Runs {
  Runs(mlir::Value data, Index at) : data(data), at(1, at) {}
  Runs(mlir::Value data, llvm::ArrayRef<Index> at) : data(data), at(at) {}

  mlir::Value data;
  llvm::SmallVector<Index> at;
};

/// Copies `count` elements of each run; bf16 may become f32. Up to a vector
/// behind them is written too.
void copyRuns(IndexBuilder &b, int64_t lanes, const Runs &from, const Runs &to,
              int64_t count);

/// Copies `count` bytes of each run as words, those of a group in two elements
/// of i32: the even ones to element k, the odd ones `odd` elements behind,
/// zeros behind the last byte. Writes nothing else.
void copyAsWords(IndexBuilder &b, int64_t lanes, const Runs &from,
                 const Runs &to, int64_t odd, int64_t count);

/// How many of `depth` elements to copy at a time, near `most`: equal parts of
/// whole groups if there are any.
int64_t copiedAtOnce(int64_t depth, int64_t most, int64_t group);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_PRODUCTS_PRODUCTS_H
