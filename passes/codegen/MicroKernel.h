//===- MicroKernel.h - a register tile of a product -------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CODEGEN_MICROKERNEL_H
#define INGOT_PASSES_CODEGEN_MICROKERNEL_H

#include "dialects/cpu/CpuDialect.h"
#include "passes/codegen/Addressing.h"
#include "passes/codegen/Schedule.h"

namespace ingot::codegen {

/// The register tile at hand: as planned, or a smaller one at a border.
struct Tile {
  int64_t rows, vectors;
  /// Elements of a vector, and of the last one those within the tensor.
  int64_t lanes, lastLanes;
  bool hasFMA;

  int64_t columns() const { return (vectors - 1) * lanes + lastLanes; }
  Tile withRows(int64_t rows) const {
    Tile tile = *this;
    tile.rows = rows;
    return tile;
  }
};

/// One accumulator a row and vector, row by row.
using Accumulators = llvm::SmallVector<mlir::Value>;

Accumulators zeroAccumulators(IndexBuilder &b, const Tile &tile);

/// `scf.for` from `begin` to `end` that carries the accumulators.
Accumulators
forEach(IndexBuilder &b, Index begin, Index end, const Accumulators &start,
        llvm::function_ref<Accumulators(mlir::Value, const Accumulators &)>
            body);

/// The same without anything to carry.
void forEach(IndexBuilder &b, Index begin, Index end, int64_t step,
             llvm::function_ref<void(mlir::Value)> body);

/// The rows of src that a tile reads: element k of row r stands at
/// `data[at[r] + k]`; rows that are nullopt do not take part.
struct Rows {
  mlir::Value data;
  llvm::SmallVector<std::optional<Index>> at;
  /// Elements between two rows.
  Index stride;

  /// `count` rows from `first` on.
  Rows(IndexBuilder &b, mlir::Value data, Index first, Index stride,
       int64_t count);
};

/// Adds the products of `depth` elements of the rows and the weights: vector v
/// for element k stands at `weights[weightsAt + k * panel + v * lanes]`.
Accumulators multiplyAdd(IndexBuilder &b, const Tile &tile, const Rows &rows,
                         mlir::Value weights, Index weightsAt, int64_t panel,
                         int64_t depth, const Accumulators &start);

/// The same for rows that may lie so that they collide in the first-level cache:
/// if so, over contiguous copies of them in the stack of the kernel of `op`. All
/// rows take part.
Accumulators multiplyAddWhole(IndexBuilder &b, const Tile &tile,
                              const Rows &rows, mlir::Value weights,
                              Index weightsAt, int64_t panel, int64_t depth,
                              const Accumulators &start, mlir::Operation *op);

/// x * y + sum.
mlir::Value multiplyAddVectors(IndexBuilder &b, const Tile &tile, mlir::Value x,
                               mlir::Value y, mlir::Value sum);

/// The vector of a tile of one vector at `data[at]`: what is behind the tensor's
/// end is not read.
mlir::Value loadPart(IndexBuilder &b, const Tile &tile, mlir::Value data,
                     Index at);

/// Where one vector of the output lies, and how much of it.
struct Place {
  llvm::SmallVector<Index> coordinates;
  int64_t lanes, valid;
  /// The lanes within the tensor where only a run knows them.
  mlir::Value mask;

  bool isWhole() const { return !mask && valid == lanes; }
};

/// Runs the epilogue of `op` over one vector and stores it.
void storeVector(IndexBuilder &b, cpu::EpilogueOpInterface op, const Flat &dst,
                 llvm::ArrayRef<Flat> operands, mlir::Value sum,
                 const Place &place);

/// Runs the epilogue of `op` over the accumulators and stores them. `rowAt(b,
/// row)` are the coordinates of a row's first element in dst.
void storeTile(
    IndexBuilder &b, const Tile &tile, cpu::EpilogueOpInterface op,
    const Flat &dst, llvm::ArrayRef<Flat> operands, const Accumulators &sums,
    llvm::function_ref<llvm::SmallVector<Index>(IndexBuilder &, Index row)>
        rowAt);

} // namespace ingot::codegen

#endif // INGOT_PASSES_CODEGEN_MICROKERNEL_H
