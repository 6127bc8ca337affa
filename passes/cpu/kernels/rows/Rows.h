//===- Rows.h - loops over rows of contiguous elements ----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What reductions, softmax, normalizations and poolings share: sums
// that stay exact enough however many elements they have.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_KERNELS_ROWS_ROWS_H
#define INGOT_PASSES_CPU_KERNELS_ROWS_ROWS_H

#include "passes/cpu/kernels/Kernels.h"

namespace ingot::cpu {

/// What is folded into an accumulator, and how: numbers of f32, or for
/// `maxUnsigned` bytes.
enum class FoldKind { sum, max, maxOrNaN, maxUnsigned, minOrNaN, prod };
FoldKind foldKindOf(cpu::ReduceKind kind);

/// x x, which a sum may take in without rounding it first.
mlir::Value squareVector(IndexBuilder &b, mlir::Value x);
/// `fold` of two vectors, and what it starts with.
mlir::Value foldVectors(IndexBuilder &b, FoldKind kind, mlir::Value x,
                        mlir::Value y);
mlir::Value neutralVector(IndexBuilder &b, FoldKind kind, int64_t lanes);

/// `fold` of all lanes of a vector.
mlir::Value foldLanes(IndexBuilder &b, FoldKind kind, mlir::Value vector);

/// A vector of a row: where it starts, and which lanes are within the row (all
/// if null).
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

/// The same of pieces that take long: none has no lanes within the row.
void forEachLongPiece(
    IndexBuilder &b, const TargetInfo &target, Index length,
    llvm::function_ref<void(IndexBuilder &b, const Piece &piece)> body);

/// Folds `element(piece)` over a row to one f32; lanes outside do not count.
mlir::Value foldRow(IndexBuilder &b, const TargetInfo &target, Index length,
                    FoldKind kind, PieceFn element);

/// Whether there is one column, of elements side by side in all of `memrefs`.
mlir::Value isOneColumn(IndexBuilder &b, Index columns,
                        llvm::ArrayRef<Flat> memrefs);

/// Folds `element(row, vector)`, of `tile.vectors` vectors, over `rows` rows to
/// as many vectors.
Accumulators foldColumns(
    IndexBuilder &b, const Tile &tile, Index rows, FoldKind kind,
    llvm::function_ref<mlir::Value(IndexBuilder &b, Index row, int64_t vector)>
        element);

/// Loads of a piece, and of a vector of a tile; lanes outside are 0.
mlir::Value loadPiece(IndexBuilder &b, int64_t lanes, mlir::Value data,
                      Index at, mlir::Value mask);
/// Returns the elements of a vector of i32 as indices.
llvm::SmallVector<Index> indicesOf(IndexBuilder &b, mlir::Value vector);
/// Loads `size` elements at each of `starts` behind `at`, side by side, as
/// floats. There are as many starts as a power of two.
mlir::Value loadParts(IndexBuilder &b, mlir::Value data, Index at,
                      llvm::ArrayRef<Index> starts, int64_t size);
/// Unsigned bytes as floats; other vectors as they are.
mlir::Value bytesToFloats(IndexBuilder &b, mlir::Value vector);
/// Stores the lanes of `vector` that `mask` has; all without one.
void storePiece(IndexBuilder &b, mlir::Value vector, mlir::Value data, Index at,
                mlir::Value mask);
/// The mask of the first `count` lanes, at most all of them.
mlir::Value maskOfFirst(IndexBuilder &b, int64_t lanes, Index count);
/// `x` in lanes of the mask (all if null), else 0.
mlir::Value keepLanes(IndexBuilder &b, mlir::Value mask, mlir::Value x);
/// The mask of a tile's vector; null for a whole one.
mlir::Value maskOfVector(IndexBuilder &b, const Tile &tile, int64_t vector);

/// Runs `body` for each row of `memref`, the elements of its last dimension,
/// that task `number` has; `row` are the coordinates of all other dimensions.
void forEachRow(IndexBuilder &b, const Plan &plan, mlir::Value memref,
                mlir::Value number,
                llvm::function_ref<void(llvm::ArrayRef<Index> row)> body);

/// What kernels have that compute row by row of src: `Kernel::emitRow` writes
/// one.
template <typename Op, typename Kernel> struct RowEmitter {
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
/// An index as f32.
mlir::Value toFloat(IndexBuilder &b, Index x);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_ROWS_ROWS_H
