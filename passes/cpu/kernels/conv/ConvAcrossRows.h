//===- ConvAcrossRows.h - tiles of pixels across rows -----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_KERNELS_CONV_CONVACROSSROWS_H
#define INGOT_PASSES_CPU_KERNELS_CONV_CONVACROSSROWS_H

#include "passes/cpu/kernels/RowTiling.h"
#include "passes/cpu/kernels/conv/ConvFoundPixels.h"
#include "passes/cpu/kernels/conv/ConvSums.h"
#include "passes/cpu/kernels/conv/ConvTapCopies.h"

namespace ingot::cpu {

/// Given the number of a column tile, and the tile.
using ColumnFn = llvm::function_ref<void(mlir::Value, const Tile &)>;
using ForEachColumn = llvm::function_ref<void(ColumnFn)>;

/// Tiles of pixels that need not be of one row.
struct ConvAcrossRows : ConvPart {
  ConvAcrossRows(ConvKernel &conv, ConvColumns &columns, ConvSums &sums)
      : ConvPart(conv), sums(sums), copies(conv, columns), found(conv) {}

  void emit(const Tile &tile, const ColumnAt &columnAt, const TaskRange &range);
  /// Returns whether whole windows are copied.
  bool copiesWindows(const Tile &tile);
  /// Emits all column tiles, which share copies of few channels.
  void emitFewChannels(const Tile &tile, Index group, const TaskRange &range,
                       ForEachColumn forEachColumn);

private:
  /// The pixels of a tile: the first one's coordinates and number in dst, how
  /// many there are, the tile's number, and whether all of them are of one row,
  /// and their taps along it within src.
  struct PixelRun {
    llvm::SmallVector<Index> first;
    Index pixel, count, number;
    mlir::Value asTheyAre;

    PixelsAt at() const {
      return {llvm::ArrayRef(first).drop_back(), first.back()};
    }
  };
  void forEachRun(const Tile &tile, const TaskRange &range,
                  llvm::function_ref<void(const PixelRun &run)> body);
  /// The functions that sum up a tile: over pixels as they are, or over any
  /// pixels. `prepare` is called before the first column.
  struct PixelSums {
    using SumFn = llvm::function_ref<Accumulators(const Tile &tile,
                                                  const ColumnAt &columnAt)>;
    llvm::function_ref<void(Index rows)> prepare;
    SumFn whole, any;
  };
  void emitRun(const Tile &tile, const PixelRun &run, Index group,
               const PixelSums &sums, ForEachColumn forEachColumn);
  RowTiling tilingOf(const Tile &tile) const;
  void storePixels(const Tile &tile, const Accumulators &sums,
                   const PixelRun &run, const ColumnAt &columnAt);
  /// Returns whether pixels of any row lie one behind the other in dst, and so
  /// do those of what the epilogue reads; a number is then their place.
  bool storesInRow(const Tile &tile);
  void storeInRow(const Tile &tile, const Accumulators &sums,
                  const PixelRun &run, const ColumnAt &columnAt);

  ConvSums &sums;
  ConvTapCopies copies;
  ConvFoundPixels found;
};

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_CONV_CONVACROSSROWS_H
