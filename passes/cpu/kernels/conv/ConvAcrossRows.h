//===- ConvAcrossRows.h - tiles of pixels across rows -----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_KERNELS_CONV_CONVACROSSROWS_H
#define INGOT_PASSES_CPU_KERNELS_CONV_CONVACROSSROWS_H

#include "passes/cpu/kernels/RowTiling.h"
#include "passes/cpu/kernels/conv/ConvGatheredPixels.h"
#include "passes/cpu/kernels/conv/ConvIm2Col.h"
#include "passes/cpu/kernels/conv/ConvSums.h"

namespace ingot::cpu {

/// A function that gets the number of a column tile, and the tile.
using ColumnFn = llvm::function_ref<void(mlir::Value, const Tile &)>;
using ForEachColumn = llvm::function_ref<void(ColumnFn)>;

/// Tiles of pixels that may lie in several rows.
struct ConvAcrossRows : ConvEmitterBase {
  ConvAcrossRows(ConvKernel &conv, ConvColumns &columns, ConvSums &sums)
      : ConvEmitterBase(conv), sums(sums), copies(conv, columns), found(conv) {}

  void emit(const Tile &tile, const ColumnAt &columnAt, const TaskRange &range);
  /// Returns true if whole windows are copied.
  bool copiesWindows(const Tile &tile);
  /// Emits all column tiles, which share the copies if there are few channels.
  void emitFewChannels(const Tile &tile, Index group, const TaskRange &range,
                       ForEachColumn forEachColumn);

private:
  /// The pixels of a tile: the coordinates of the first pixel, its number in
  /// dst, the number of pixels, and the number of the tile. `asTheyAre` is true
  /// if all pixels lie in one row and their taps along the row lie within src.
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
  /// The functions that compute the sums of a tile: `whole` if its pixels are
  /// `asTheyAre`, `any` for all others. `prepare` is called before the first
  /// column.
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
  /// Returns true if the pixels of all rows are contiguous in dst and in the
  /// operands of the epilogue. A pixel's number is then its index.
  bool storesInRow(const Tile &tile);
  void storeInRow(const Tile &tile, const Accumulators &sums,
                  const PixelRun &run, const ColumnAt &columnAt);

  ConvSums &sums;
  ConvIm2Col copies;
  ConvGatheredPixels found;
};

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_CONV_CONVACROSSROWS_H
