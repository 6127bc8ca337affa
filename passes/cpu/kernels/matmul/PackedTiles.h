//===- PackedTiles.h - tiles of products with packed weights ----*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_KERNELS_MATMUL_PACKEDTILES_H
#define INGOT_PASSES_CPU_KERNELS_MATMUL_PACKEDTILES_H

#include "passes/cpu/kernels/Kernels.h"
#include "passes/cpu/kernels/RowTiling.h"

namespace ingot::cpu {

/// A column tile of one product of a batch.
struct PackedColumns {
  /// The panel, the first column in it, and the first column of dst.
  Index panel, inPanel, first;
  llvm::ArrayRef<Index> batch;
};

/// A function that gets the tile and its first row.
using RowTileFn = llvm::function_ref<void(const Tile &tile, Index row)>;

/// The base of all kernels of `cpu.packed_matmul`, for rows of floats and of
/// bytes.
struct PackedTiles {
  PackedTiles(mlir::OpBuilder &builder, cpu::PackedMatMulOp op);

  PackedColumns columnsAt(llvm::ArrayRef<Index> batch, Index columnTile);
  /// Emits row tiles: full tiles, then smaller ones for the rest.
  void forEachRowTile(const Tile &tile, const TaskRange &range, RowTileFn body);
  Index srcAt(const PackedColumns &columns, Index row, Index k);
  /// Prefetches the words of the panel that are multiplied long after row
  /// `word`. Includes the columns of other tiles, so that the panel is read as
  /// one stream.
  void prefetchWords(const PackedColumns &columns, Index word);
  /// Loads the elements of `from` for block `number` and the columns of vector
  /// v. Multiplies them by `factor`.
  mlir::Value loadOfBlock(const Tile &tile, const PackedColumns &columns,
                          const Flat &from, Index number, int64_t v,
                          float factor);
  void store(const Tile &tile, const Accumulators &sums,
             const PackedColumns &columns, Index row);
  mlir::VectorType realVector(const Tile &tile) {
    return mlir::VectorType::get({tile.lanes}, b.b.getF32Type());
  }

  IndexBuilder b;
  cpu::PackedMatMulOp op;
  PackedMatMulPlan plan;
  Flat src, weights, scales;
  std::optional<Flat> zeros;
  Output output;
};

/// Writes a task of a product whose rows are blocks of bytes.
void emitPackedBytes(mlir::OpBuilder &builder, cpu::PackedMatMulOp op,
                     mlir::Value task);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_MATMUL_PACKEDTILES_H
