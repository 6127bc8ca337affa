//===- WidenedWeights.h - weights of f16 as f32 -----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_PRODUCTS_WIDENEDWEIGHTS_H
#define INGOT_PASSES_CPU_PRODUCTS_WIDENEDWEIGHTS_H

#include "passes/cpu/products/Products.h"

namespace ingot::cpu {

/// The sums of a tile by its weights.
using MultiplyFn = llvm::function_ref<Accumulators(const TileWeights &)>;

/// Weights of f16 of a column tile as f32 on the stack: where several tiles of
/// rows share them they are widened once, and multiplied as weights of f32 are.
/// The sums are the same as if they were widened for each tile.
struct WidenedWeights {
  /// Whether that is worth it for so many rows, open or not, in tiles of
  /// `tile`, and `terms` weights of each column.
  static bool pays(const Tile &tile, int64_t terms, int64_t rows);

  /// Of tiles with the columns of `tile`.
  WidenedWeights(IndexBuilder &b, const Tile &tile, int64_t terms);

  /// For all rows, the first `terms` of `weights`.
  TileWeights fill(IndexBuilder &b, const TileWeights &weights,
                   int64_t terms) const;

  /// The sums of `multiply`, of weights that are widened as they are read if
  /// these rows are the first, and kept for the others. The first of all that
  /// are kept is at `from`.
  Accumulators sum(IndexBuilder &b, const TileWeights &weights, Index from,
                   mlir::Value isFirst, MultiplyFn multiply) const;
  /// Of all terms, by rows that are tile `number`.
  Accumulators sum(IndexBuilder &b, const TileWeights &weights, Index number,
                   MultiplyFn multiply) const;

  mlir::Value data;

private:
  TileWeights wide(const TileWeights &weights, Index at) const;

  int64_t columns;
};

/// Numbers of f16 as f32, also without an instruction for it.
mlir::Value widenWeights(IndexBuilder &b, bool hasFMA, mlir::Value weights);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_PRODUCTS_WIDENEDWEIGHTS_H
