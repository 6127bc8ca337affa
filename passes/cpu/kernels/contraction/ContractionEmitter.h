//===- ContractionEmitter.h - products as loops over tiles ------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the head of ContractionsToVector.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_KERNELS_CONTRACTION_CONTRACTIONEMITTER_H
#define INGOT_PASSES_CPU_KERNELS_CONTRACTION_CONTRACTIONEMITTER_H

#include "passes/cpu/kernels/rows/Rows.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/TypeUtilities.h"

namespace ingot::cpu {

/// Writes one product.
struct ContractionEmitter {
  /// A panel is two vectors wide; so many of them, and of their rows, are
  /// packed at a time.
  static constexpr int64_t kVectors = 2, kPanels = 4, kDepth = 256;
  /// From so many rows or columns on, panels pay.
  static constexpr int64_t kFew = 4;

  ContractionEmitter(mlir::OpBuilder &builder, mlir::linalg::GenericOp op)
      : b{builder, op.getLoc()}, op(op), target(TargetInfo::of(op)),
        element(mlir::getElementTypeOrSelf(op->getOperand(2))),
        lanes(target.lanes * 32 / element.getIntOrFloatBitWidth()),
        row(op.getNumLoops() - 3), k(row + 1), column(row + 2),
        width(kVectors * lanes), step(multipliesPairs() ? 2 : 1) {}

  void emit();

  /// Columns of a panel from `column` on, of which so many are there (as many
  /// as it has, or more, if it is whole), and `depth` k from `k` on.
  struct Part {
    Index column, columns, k, depth;
    /// Where it is packed.
    Index at;
  };

  void emitPanels(Index firstColumn);
  void emitPanel(const Part &part);
  /// Tiles of `most` rows, and what they leave by the half, of a vector for
  /// each mask, which are null where all columns are there.
  void emitRows(const Part &part, int64_t most,
                llvm::ArrayRef<mlir::Value> masks);
  void emitTile(const Part &part, int64_t rows, Index firstRow,
                llvm::ArrayRef<mlir::Value> masks);
  /// Runs `body` for the panels of `part`, of four.
  void forEachPanel(const Part &part,
                    llvm::function_ref<void(const Part &panel)> body);
  void pack(const Part &part, int64_t vectors, bool isWhole);
  void packRow(const Part &part, Index i, int64_t vectors, bool isWhole,
               int64_t count);
  void packTurned(const Part &part);
  void packOneByOne(const Part &part, Index begin, Index end, Index firstRow);

  // Without panels: see ContractionsOfFew.cpp.
  void emitFewRows();
  void emitSteps(Index row, Index firstK, int64_t steps);
  void emitFewColumns();
  void emitSums(Index column, Index firstK, Index depth);
  void emitElements();

  bool isOuter(int64_t loop);
  /// Runs `body` for all places of loops that the right factor knows or that
  /// sum up, or of the others.
  void forEachPlace(bool isOuter, llvm::function_ref<void()> body);
  /// Where an operand has the element of a row, k and column.
  llvm::SmallVector<mlir::Value> at(int64_t operand, Index row, Index k,
                                    Index column);
  Index valueOf(mlir::AffineExpr expr, Index row, Index k, Index column);

  /// What was loaded of an operand, as the body widens it.
  mlir::Value widen(int64_t operand, mlir::Value loaded);
  mlir::Value loadFactor(int64_t operand, llvm::ArrayRef<mlir::Value> at);
  /// Of the right one, a vector.
  mlir::Value loadFactors(llvm::ArrayRef<mlir::Value> at, int64_t lanes,
                          mlir::Value mask);
  /// A vector of the result.
  mlir::Value loadPiece(llvm::ArrayRef<mlir::Value> at, mlir::Value mask);
  /// What a panel has of columns at `count` k from one on, and what that is
  /// multiplied by.
  mlir::Value loadForPanel(Index k, Index column, mlir::Value mask,
                           int64_t count);
  mlir::Value loadLeft(Index row, Index k, int64_t count);
  /// Two words as one number, the second of which may be absent.
  mlir::Value joinWords(mlir::Value low, mlir::Value high);
  mlir::Value multiplyAdd(mlir::Value x, mlir::Value y, mlir::Value sum);
  llvm::SmallVector<mlir::Value> masksOf(Index columns, bool isWhole);
  mlir::AffineMap map(int64_t operand) {
    return op.getMatchingIndexingMap(&op->getOpOperand(operand));
  }
  /// Whether words are multiplied in pairs of k.
  bool multipliesPairs();
  /// Whether there are no masked loads of the right factor.
  bool isNarrow() {
    mlir::Type type = mlir::getElementTypeOrSelf(op->getOperand(1));
    return type.isInteger() && type.getIntOrFloatBitWidth() < 32;
  }
  bool isTurned() {
    return map(1).getResults().back() !=
           mlir::getAffineDimExpr(column, op.getContext());
  }

  IndexBuilder b;
  mlir::linalg::GenericOp op;
  TargetInfo target;
  /// Of sums, and of a panel.
  mlir::Type element;
  int64_t lanes, row, k, column, width;
  /// How many k an element of a panel is of.
  int64_t step;
  llvm::SmallVector<Index> sizes, batch;
  mlir::Value panel;
};

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_CONTRACTION_CONTRACTIONEMITTER_H
