//===- Products.h - sums of products in registers ---------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The inner loops of convolutions and matrix products, for each kind of
// product.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_PRODUCTS_PRODUCTS_H
#define INGOT_PASSES_CPU_PRODUCTS_PRODUCTS_H

#include "passes/cpu/kernels/Prefetch.h"

namespace ingot::cpu {

/// Loads the group at `data[at]` as an i32, with zeros behind `count` elements.
mlir::Value loadGroup(IndexBuilder &b, mlir::Value data, Index at,
                      int64_t count);

struct PairLists;

/// The weights of a column tile in the layout that its product reads. The group
/// of vector v that holds element k starts at `data[at + k * panel + v * lanes
/// * group]`. Weights that are multiplied as int16 may be `Int16Weights`; then
/// `panel` is half of the tile's columns.
struct TileWeights {
  Tile tile;
  mlir::Value data;
  Index at;
  int64_t panel;
  /// The sorted groups, if the product reads k by lists, and the index of the
  /// run that is multiplied.
  const PairLists *lists = nullptr;
  Index run = 0;

  /// Returns the weights from element k on.
  TileWeights from(IndexBuilder &b, Index k) const;
};

/// Adds the products of `depth` elements of the rows and the weights, step by
/// step. Rows have the form that the product reads.
Accumulators multiplyAdd(IndexBuilder &b, const TileWeights &weights,
                         const SrcRows &rows, int64_t depth,
                         const Accumulators &start,
                         const NextWeights &next = {});

/// Adds the products of `depth` elements of all rows of src and the weights.
/// Rows are copied if the product reads another form of them, or if they may
/// collide in the first-level cache.
Accumulators multiplyAddWhole(IndexBuilder &b, const TileWeights &weights,
                              const SrcRows &rows, int64_t depth,
                              const Accumulators &start,
                              const NextWeights &next = {});

/// Adds the products over copies of the rows. If the product reads floats, all
/// rows are copied as f32. Otherwise half of the rows are read in place.
Accumulators multiplyCopies(IndexBuilder &b, const TileWeights &weights,
                            const SrcRows &rows, int64_t depth,
                            const Accumulators &start, const NextWeights &next);

/// Returns the number of groups of a row to copy at a time. With this number,
/// 14 rows of copies take less than half of the first-level cache.
int64_t groupsCopied(const TargetInfo &target);

/// Returns x + y, of floats or integers.
mlir::Value addSums(IndexBuilder &b, mlir::Value x, mlir::Value y);

/// Returns the number of sets of sums to keep in parallel. A tile with few rows
/// needs several sets, because each addition would wait for the previous one.
/// No panel is wider than `width`.
int64_t sumsBeside(const TargetInfo &target, const Tile &tile, int64_t width);
/// Adds up `steps` sets of a tile's sums, which follow each other in `sums`.
void addUp(IndexBuilder &b, Accumulators &sums, int64_t steps);

/// The starts of runs of elements in `data`.
struct Runs {
  Runs(mlir::Value data, Index at) : data(data), at(1, at) {}
  Runs(mlir::Value data, llvm::ArrayRef<Index> at) : data(data), at(at) {}

  mlir::Value data;
  llvm::SmallVector<Index> at;
};

/// Copies `count` elements of each run; bf16 may become f32. May write up to a
/// vector more behind the elements.
void copyRuns(IndexBuilder &b, int64_t lanes, const Runs &from, const Runs &to,
              int64_t count);

/// Copies `count` bytes of each run as int16. Two i32 hold the bytes of group
/// k: element k has the even bytes, and element k + `odd` has the odd bytes.
/// Missing bytes become zeros. Nothing else is written.
void copyAsInt16(IndexBuilder &b, int64_t lanes, const Runs &from,
                 const Runs &to, int64_t odd, int64_t count);

/// Returns the number of elements of `depth` to copy at a time, near `most`.
/// Parts are equal and hold whole groups if possible.
int64_t copiedAtOnce(int64_t depth, int64_t most, int64_t group);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_PRODUCTS_PRODUCTS_H
