//===- SameSizes.h - which open sizes are one -------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SHAPE_SAMESIZES_H
#define INGOT_PASSES_SHAPE_SAMESIZES_H

#include "passes/shape/SizeAnalysis.h"

#include "mlir/IR/BuiltinOps.h"

#include <memory>

namespace ingot::shape {

/// The sizes of a function's tensors once `nn-require-sizes` has made sure that
/// they fit: two that had to be equal are.
class SameSizes {
public:
  explicit SameSizes(mlir::func::FuncOp function);
  /// Those of all functions of a module.
  explicit SameSizes(mlir::ModuleOp module);

  /// Whether two dimensions have one size in every run. Of values that came
  /// later nothing is known but what their types say.
  bool isSame(mlir::Value a, int64_t dimA, mlir::Value b, int64_t dimB) const;
  /// Whether so many dimensions have as many elements, of which there is one
  /// where there are none.
  bool isSameProduct(mlir::Value a, llvm::ArrayRef<int64_t> dimsA,
                     mlir::Value b, llvm::ArrayRef<int64_t> dimsB) const;
  /// Before `op` is erased: others may take its results' places in memory.
  void forget(mlir::Operation *op);

private:
  void add(mlir::func::FuncOp function);
  /// `top` is the op of the function's block that `op` is part of; null where a
  /// run may not reach it.
  void visit(SizeAnalysis &analysis, mlir::Operation *op, mlir::Operation *top);

  llvm::SmallVector<std::unique_ptr<SizeAnalysis>, 1> analyses;
  /// The analysis of each value's function.
  llvm::DenseMap<mlir::Value, SizeAnalysis *> visited;
};

} // namespace ingot::shape

#endif // INGOT_PASSES_SHAPE_SAMESIZES_H
