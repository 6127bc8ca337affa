//===- Contraction.h - indices and elements of a product --------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_KERNELS_CONTRACTION_CONTRACTION_H
#define INGOT_PASSES_CPU_KERNELS_CONTRACTION_CONTRACTION_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/cpu/kernels/rows/RowEmitter.h"
#include "passes/cpu/policy/Thresholds.h"

namespace ingot::cpu {

/// The loops and elements of a product. All parts of the code use them.
struct Contraction {
  /// Sizes of packing: a panel has kVectors vectors of columns, and kPanels
  /// panels of kDepth rows are packed at a time.
  static constexpr int64_t kVectors = 2;
  static inline const int64_t &kPanels = threshold::contractionPanels,
                              &kDepth = threshold::contractionDepth;

  Contraction(mlir::OpBuilder &builder, mlir::linalg::GenericOp op);

  bool isOuter(int64_t loop);
  /// Runs `body` for all indices of the outer loops if `isOuter`, else for
  /// those of the other loops. Outer loops are loops that index the right
  /// factor, and reductions besides k.
  void forEachPlace(bool isOuter, llvm::function_ref<void()> body);
  /// Returns the indices of an operand's element, given its row, k and column.
  llvm::SmallVector<mlir::Value> at(int64_t operand, Index row, Index k,
                                    Index column);
  Index valueOf(mlir::AffineExpr expr, Index row, Index k, Index column);

  /// Widens a loaded value of an operand as the op's body does.
  mlir::Value widen(int64_t operand, mlir::Value loaded);
  mlir::Value loadFactor(int64_t operand, llvm::ArrayRef<mlir::Value> at);
  /// Loads a vector of the right factor.
  mlir::Value loadFactors(llvm::ArrayRef<mlir::Value> at, int64_t lanes,
                          mlir::Value mask);
  /// Loads a vector of the result.
  mlir::Value loadPiece(llvm::ArrayRef<mlir::Value> at, mlir::Value mask);
  /// Joins two int16 in one i32. If `high` is null, it counts as 0.
  mlir::Value joinWords(mlir::Value low, mlir::Value high);
  mlir::Value multiplyAdd(mlir::Value x, mlir::Value y, mlir::Value sum);
  llvm::SmallVector<mlir::Value> masksOf(Index columns, bool isWhole);
  mlir::AffineMap map(int64_t operand) {
    return op.getMatchingIndexingMap(&op->getOpOperand(operand));
  }
  /// Returns true if int16 are multiplied in pairs of neighbouring k.
  bool multipliesPairs();
  /// Returns true if the right factor's type has no masked loads.
  bool isNarrow() {
    mlir::Type type = mlir::getElementTypeOrSelf(op->getOperand(1));
    return type.isInteger() && type.getIntOrFloatBitWidth() < 32;
  }
  bool isTransposed() {
    return map(1).getResults().back() !=
           mlir::getAffineDimExpr(column, op.getContext());
  }

  IndexBuilder b;
  mlir::linalg::GenericOp op;
  TargetInfo target;
  /// The element type of sums and of a panel.
  mlir::Type element;
  int64_t lanes, row, k, column, width;
  /// The number of values of k that an element of a panel holds.
  int64_t step;
  llvm::SmallVector<Index> sizes, batch;
  /// The buffer of the panels.
  mlir::Value panel;
};

/// The base class of each part of the code. It gives short names to the members
/// of a product.
struct ContractionEmitterBase {
  explicit ContractionEmitterBase(Contraction &all)
      : all(all), b(all.b), op(all.op), target(all.target),
        element(all.element), panel(all.panel), lanes(all.lanes), row(all.row),
        k(all.k), column(all.column), width(all.width), step(all.step),
        sizes(all.sizes) {}

protected:
  static constexpr int64_t kVectors = Contraction::kVectors;
  static inline const int64_t &kPanels = threshold::contractionPanels,
                              &kDepth = threshold::contractionDepth;

  Contraction &all;
  IndexBuilder &b;
  mlir::linalg::GenericOp op;
  const TargetInfo &target;
  const mlir::Type element;
  const mlir::Value panel;
  const int64_t lanes, row, k, column, width, step;
  llvm::ArrayRef<Index> sizes;
};

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_CONTRACTION_CONTRACTION_H
