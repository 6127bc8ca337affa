//===- SameSizes.h - which open sizes are one -------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SHAPE_SAMESIZES_H
#define INGOT_PASSES_SHAPE_SAMESIZES_H

#include "passes/shape/SizeAnalysis.h"

namespace ingot::shape {

/// The sizes of a function's tensors once `nn-require-sizes` has made sure that
/// they fit: two that had to be equal are.
class SameSizes {
public:
  explicit SameSizes(mlir::func::FuncOp function);

  /// Whether two dimensions have one size in every run. Of values that came
  /// later nothing is known.
  bool isSame(mlir::Value a, int64_t dimA, mlir::Value b, int64_t dimB);
  /// Before `op` is erased: others may take its results' places in memory.
  void forget(mlir::Operation *op);

private:
  void visit(mlir::Operation *op);

  SizeAnalysis analysis;
  llvm::DenseSet<mlir::Value> visited;
};

} // namespace ingot::shape

#endif // INGOT_PASSES_SHAPE_SAMESIZES_H
