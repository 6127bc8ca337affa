//===- ElementEmitter.h - elements of linalg ops ----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CUDA_KERNELS_ELEMENTEMITTER_H
#define INGOT_PASSES_CUDA_KERNELS_ELEMENTEMITTER_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"

namespace ingot::cuda {

using Values = llvm::SmallVector<mlir::Value>;

/// Returns the steps of these loops together, or nullopt if only a run knows
/// them.
std::optional<int64_t> staticSteps(mlir::linalg::LinalgOp op,
                                   llvm::ArrayRef<unsigned> loops);

/// Returns the steps of a loop. `values` maps the memrefs of the op to those
/// whose sizes are read, if they are others.
mlir::Value stepsOf(mlir::OpBuilder &b, mlir::linalg::LinalgOp op,
                    unsigned loop, const mlir::IRMapping &values);

/// Returns the steps of these loops together.
mlir::Value countSteps(mlir::OpBuilder &b, mlir::linalg::LinalgOp op,
                       llvm::ArrayRef<unsigned> loops,
                       const mlir::IRMapping &values);

/// Writes the code of a thread that computes elements of a linalg op's result.
class ElementEmitter {
public:
  /// `outside` maps the memrefs and scalars that the op uses.
  ElementEmitter(mlir::OpBuilder &b, mlir::linalg::LinalgOp op,
                 const mlir::IRMapping &outside);

  /// Returns the parallel loops, in the order of the result's dimensions.
  static llvm::SmallVector<unsigned> parallelLoops(mlir::linalg::LinalgOp op);
  /// Returns the other loops, in order.
  static llvm::SmallVector<unsigned> reductionLoops(mlir::linalg::LinalgOp op);

  /// Emits the code for the elements of thread `number`: `count` of them along
  /// the last parallel loop.
  void emit(mlir::Value number, int64_t count);

  /// Computes the indices of `loops` from a number. Each number takes `count`
  /// steps of the last loop, which changes fastest.
  void delinearize(mlir::Value number, llvm::ArrayRef<unsigned> loops,
                   int64_t count);
  /// Sets the index of a loop.
  void setIndex(unsigned loop, mlir::Value index) { indices[loop] = index; }
  /// Loads an element of an operand at the present indices.
  mlir::Value load(mlir::OpOperand &operand);
  /// Lets `compute` use `value` as the element of an operand.
  void setElement(mlir::OpOperand &operand, mlir::Value value) {
    elements[operand.getOperandNumber()] = value;
  }
  /// Loads the results before the op, at the present indices. A value that is
  /// not used is null.
  Values loadInits();
  /// Clones the op's body at the present indices. `sums` are the values of the
  /// results so far. Returns the values that the body yields.
  Values compute(llvm::ArrayRef<mlir::Value> sums);
  /// Stores the results at the present indices.
  void store(llvm::ArrayRef<mlir::Value> results);

private:
  mlir::Value address(mlir::OpOperand &operand, Values &at);
  void moveTo(mlir::Value place);
  llvm::SmallVector<Values> reduce(llvm::ArrayRef<unsigned> loops,
                                   llvm::ArrayRef<mlir::Value> places,
                                   llvm::ArrayRef<Values> sums);

  mlir::OpBuilder &b;
  mlir::linalg::LinalgOp op;
  mlir::Location loc;
  mlir::IRMapping values;
  Values indices;
  /// Elements that are used in place of those in memory, by operand.
  llvm::SmallDenseMap<unsigned, mlir::Value> elements;
  llvm::SmallVector<unsigned> parallel;
};

} // namespace ingot::cuda

#endif // INGOT_PASSES_CUDA_KERNELS_ELEMENTEMITTER_H
