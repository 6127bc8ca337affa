//===- RowEmitter.h - loops over rows of contiguous elements ----*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Helpers for reductions, softmax, normalizations and poolings. Long sums
// continue in f64, so that they stay exact enough for any number of elements.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_KERNELS_ROWS_ROWEMITTER_H
#define INGOT_PASSES_CPU_KERNELS_ROWS_ROWEMITTER_H

#include "passes/cpu/kernels/Kernels.h"

namespace ingot::cpu {

/// The operation of a fold. Operands are f32, except that `maxUnsigned` folds
/// bytes, and `maxSignedBits` and `maxUnsignedBits` fold i32 and start with 0.
enum class FoldKind {
  sum,
  max,
  maxOrNaN,
  maxUnsigned,
  maxSignedBits,
  maxUnsignedBits,
  minOrNaN,
  prod
};
FoldKind foldKindOf(cpu::ReduceKind kind);

/// Returns x * x. If the product is then added to a sum, both steps may become
/// one multiply-add.
mlir::Value squareVector(IndexBuilder &b, mlir::Value x);
/// Returns the fold of two vectors, and the neutral vector that a fold starts
/// with.
mlir::Value foldVectors(IndexBuilder &b, FoldKind kind, mlir::Value x,
                        mlir::Value y);
mlir::Value neutralVector(IndexBuilder &b, FoldKind kind, int64_t lanes);

/// Returns the fold of all lanes of a vector.
mlir::Value foldLanes(IndexBuilder &b, FoldKind kind, mlir::Value vector);

/// A vector of a row: its first element, and the mask of lanes within the row
/// (null means all).
struct Piece {
  Index at;
  mlir::Value mask;
};

using PieceFn =
    llvm::function_ref<mlir::Value(IndexBuilder &b, const Piece &piece)>;

/// Runs `body` for all pieces of a row.
void forEachPiece(
    IndexBuilder &b, const TargetInfo &target, Index length,
    llvm::function_ref<void(IndexBuilder &b, const Piece &piece)> body);

/// Runs `body` for all pieces with lanes within the row. This is for expensive
/// bodies; forEachPiece may also run `body` for an empty piece.
void forEachLongPiece(
    IndexBuilder &b, const TargetInfo &target, Index length,
    llvm::function_ref<void(IndexBuilder &b, const Piece &piece)> body);

/// Folds `element(piece)` over a row to one f32; lanes outside of the row do
/// not count.
mlir::Value foldRow(IndexBuilder &b, const TargetInfo &target, Index length,
                    FoldKind kind, PieceFn element);
/// Folds a row by each of `kinds` in one pass. Sums stay in f32.
Accumulators foldRowByKinds(IndexBuilder &b, const TargetInfo &target,
                            Index length, llvm::ArrayRef<FoldKind> kinds,
                            PieceFn element);

/// Returns true if there is one column and its elements are contiguous in all
/// of `memrefs`.
mlir::Value isOneColumn(IndexBuilder &b, Index columns,
                        llvm::ArrayRef<Flat> memrefs);

/// Folds `element(row, vector)` over `rows` rows. There are `tile.vectors`
/// vectors in a row and in the result.
Accumulators foldColumns(
    IndexBuilder &b, const Tile &tile, Index rows, FoldKind kind,
    llvm::function_ref<mlir::Value(IndexBuilder &b, Index row, int64_t vector)>
        element);

/// Loads a piece; lanes outside of the mask are 0.
mlir::Value loadPiece(IndexBuilder &b, int64_t lanes, mlir::Value data,
                      Index at, mlir::Value mask);
/// Returns the elements of a vector of i32 as indices.
llvm::SmallVector<Index> indicesOf(IndexBuilder &b, mlir::Value vector);
/// Loads `size` elements at `at + start` for each of `starts`, and concatenates
/// them as floats. The number of starts must be a power of two.
mlir::Value loadParts(IndexBuilder &b, mlir::Value data, Index at,
                      llvm::ArrayRef<Index> starts, int64_t size);
/// Converts unsigned bytes to floats; returns other vectors unchanged.
mlir::Value bytesToFloats(IndexBuilder &b, mlir::Value vector);
/// Stores the lanes of `vector` that are in `mask`; all lanes without a mask.
void storePiece(IndexBuilder &b, mlir::Value vector, mlir::Value data, Index at,
                mlir::Value mask);
/// Returns the mask of the first `count` lanes; all lanes if `count` is larger.
mlir::Value maskOfFirst(IndexBuilder &b, int64_t lanes, Index count);
/// Returns `x` in the lanes of the mask (all lanes if it is null), and 0 in
/// others.
mlir::Value keepLanes(IndexBuilder &b, mlir::Value mask, mlir::Value x);
/// Returns the mask of a tile's vector; null for a whole vector.
mlir::Value maskOfVector(IndexBuilder &b, const Tile &tile, int64_t vector);

/// Runs `body` for each row of `memref` in task `number`. A row is the elements
/// of the last dimension; `row` are the coordinates of all other dimensions.
void forEachRow(IndexBuilder &b, const Plan &plan, mlir::Value memref,
                mlir::Value number,
                llvm::function_ref<void(llvm::ArrayRef<Index> row)> body);

/// The base of kernels that compute row by row of src; `Kernel::emitRow` writes
/// one row.
template <typename Op, typename Kernel>
struct RowEmitter {
  RowEmitter(mlir::OpBuilder &builder, Op op)
      : b{builder, op.getLoc()}, op(op), plan(op), lanes(plan.target.lanes),
        src(b, op.getSrc()), output(b, op) {}

  void emit(mlir::Value task) {
    forEachRow(b, plan, op.getSrc(), task, [&](llvm::ArrayRef<Index> row) {
      static_cast<Kernel *>(this)->emitRow(row);
    });
  }

  IndexBuilder b;
  Op op;
  Plan plan;
  int64_t lanes;
  Flat src;
  Output output;
};

mlir::Value floatConstant(IndexBuilder &b, double value);
/// Converts an index to f32.
mlir::Value toFloat(IndexBuilder &b, Index x);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_ROWS_ROWEMITTER_H
