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

/// Returns the sums of a tile with the given weights.
using MultiplyFn = llvm::function_ref<Accumulators(const TileWeights &)>;

/// Weights of f16 of a column tile, widened to f32 on the stack. Several tiles
/// of rows share them, and multiply them as f32. The sums equal those of
/// weights widened for each tile.
struct WidenedWeights {
  /// Returns true if sharing pays for `rows` rows (perhaps dynamic) in tiles of
  /// `tile`, and `terms` weights of each column.
  static bool pays(const TargetInfo &target, const Tile &tile, int64_t terms,
                   int64_t rows);

  /// Allocates the weights of tiles with the columns of `tile`.
  WidenedWeights(IndexBuilder &b, const Tile &tile, int64_t terms);

  /// Widens the first `terms` of `weights`, for all rows.
  TileWeights fill(IndexBuilder &b, const TileWeights &weights,
                   int64_t terms) const;

  /// Returns the sums of `multiply`. If `isFirst` holds, weights are widened as
  /// they are read, and kept for later rows. `from` is the index of the first
  /// kept weight.
  Accumulators sum(IndexBuilder &b, const TileWeights &weights, Index from,
                   mlir::Value isFirst, MultiplyFn multiply) const;
  /// Returns the sums over all terms for row tile `number`.
  Accumulators sum(IndexBuilder &b, const TileWeights &weights, Index number,
                   MultiplyFn multiply) const;

  mlir::Value data;

private:
  TileWeights wide(const TileWeights &weights, Index at) const;

  int64_t columns;
};

/// Widens f16 to f32, also on targets without an instruction for it.
mlir::Value widenWeights(IndexBuilder &b, bool hasFMA, mlir::Value weights);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_PRODUCTS_WIDENEDWEIGHTS_H
