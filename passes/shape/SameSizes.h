//===- SameSizes.h - which dynamic sizes are equal --------------*- C++ -*-===//
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

/// The sizes of a function's tensors after `nn-require-sizes`. Sizes that a
/// check requires to be equal count as equal.
class SameSizes {
public:
  explicit SameSizes(mlir::func::FuncOp function);
  /// Analyses all functions of a module.
  explicit SameSizes(mlir::ModuleOp module);

  /// Returns true if two dimensions have the same size in every run. For values
  /// created after the analysis, only their types are known.
  bool isSame(mlir::Value a, int64_t dimA, mlir::Value b, int64_t dimB) const;
  /// Returns true if the products of two lists of dimensions are equal. The
  /// product of no dimensions is 1.
  bool isSameProduct(mlir::Value a, llvm::ArrayRef<int64_t> dimsA,
                     mlir::Value b, llvm::ArrayRef<int64_t> dimsB) const;
  /// Forgets the results of `op` before it is erased, because new values may
  /// get the addresses of these results.
  void forget(mlir::Operation *op);

private:
  void add(mlir::func::FuncOp function);
  /// Analyses `op`. `top` is the ancestor of `op` in the function's block, or
  /// null if a run may not reach `op`.
  void visit(SizeAnalysis &analysis, mlir::Operation *op, mlir::Operation *top);

  llvm::SmallVector<std::unique_ptr<SizeAnalysis>, 1> analyses;
  /// The analysis of each value's function.
  llvm::DenseMap<mlir::Value, SizeAnalysis *> visited;
};

} // namespace ingot::shape

#endif // INGOT_PASSES_SHAPE_SAMESIZES_H
