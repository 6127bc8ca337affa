//===- ConvColumns.h - prepared weights of a convolution --------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_KERNELS_CONV_CONVCOLUMNS_H
#define INGOT_PASSES_CPU_KERNELS_CONV_CONVCOLUMNS_H

#include "passes/cpu/kernels/conv/ConvKernel.h"
#include "passes/cpu/products/PairProducts.h"
#include "passes/cpu/products/WidenedWeights.h"

namespace ingot::cpu {

/// The weights of a column tile in the form that the product reads, prepared
/// once for all rows of a task.
struct ConvColumns : ConvEmitterBase {
  using ConvEmitterBase::ConvEmitterBase;

  /// Sorts the groups of bytes that are multiplied in pairs.
  void sortPairs(const Tile &tile, const ColumnAt &columnAt);
  /// Widens int8 weights to int16, if that pays.
  void widenWeights(const Tile &tile, const ColumnAt &columnAt);

  /// Prepares a buffer in which all rows of a task share f16 weights that are
  /// widened to f32. A column has `terms` weights. The tile that reads a row of
  /// taps first widens the weights of that row.
  void prepareWidened(const Tile &tile, int64_t terms);
  /// Marks the weights from `from` on as not widened.
  void clearWidened(Index from);
  Accumulators sumWidened(const TileWeights &weights,
                          llvm::ArrayRef<Index> outerTaps, MultiplyFn multiply);
  /// Widens all weights, then calls `body`, which uses the widened copy.
  void withWidened(const Tile &tile, const ColumnAt &columnAt,
                   llvm::function_ref<void(const Tile &tile)> body);

  std::optional<PairLists> pairs;
  std::optional<Int16Weights> wide;

private:
  std::optional<WidenedWeights> widened;
  /// A flag for each row of taps: true if its weights are widened.
  /// `widenedFrom` is the offset of the first row's weights.
  mlir::Value areWidened;
  Index widenedFrom;
};

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_CONV_CONVCOLUMNS_H
