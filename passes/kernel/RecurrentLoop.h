//===- RecurrentLoop.h - what a loop over time computes ---------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_KERNEL_RECURRENTLOOP_H
#define INGOT_PASSES_KERNEL_RECURRENTLOOP_H

#include "dialects/nn/NNDialect.h"
#include "passes/support/Reason.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace ingot::kernel {

/// The part of a recurrence that its backend decides or builds.
struct RecurrentBuilder {
  /// Says why the backend does not multiply a state by these weights.
  Reason (*whyNot)(nn::MatMulOp product);
  /// Ends the body of a cell, which gives `values`.
  void (*buildYield)(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::ValueRange values);
};

/// A loop over the steps of a sequence, taken apart for a kernel.
class RecurrentLoop {
public:
  RecurrentLoop(mlir::scf::ForOp loop, const RecurrentBuilder &backend)
      : loop(loop), backend(backend) {}

  /// Fills this in; else says why the loop is no recurrence, or has no kernel.
  Reason match();

  /// Builds the steps that the loop takes; of a longer tensor, the first.
  mlir::Value buildSource(mlir::OpBuilder &b);
  /// Builds `operands` without the numbers of other units.
  mlir::SmallVector<mlir::Value> buildOperands(mlir::OpBuilder &b);

  mlir::scf::ForOp loop;
  int64_t hidden = 0, numStates = 0;
  bool isReverse = false, stores = false;
  mlir::Value lengths;
  /// Slice of the input's part of the gates at a step.
  mlir::tensor::ExtractSliceOp part;
  /// Products of states. The last multiplies what `reset` yields, if that is
  /// not empty.
  mlir::SmallVector<nn::MatMulOp> products;
  mlir::SmallVector<int64_t> gates;
  /// A tensor of one dimension, and where in it the numbers of units begin.
  mlir::SmallVector<std::pair<mlir::Value, int64_t>> operands;
  mlir::Region cell, reset;
  /// Size of all recurrent weights.
  int64_t weightBytes = 0;

private:
  Reason matchStates();
  Reason matchSteps();
  Reason matchProducts();
  bool isStep(mlir::Value index);
  bool buildCells();

  /// Builds the scalar of unit 0 of columns [offset, offset + hidden) of
  /// `value`; null if it is none.
  mlir::Value scalarOf(mlir::Region &region, mlir::Value value, int64_t offset);
  mlir::Value buildScalar(mlir::Region &region, mlir::Value value,
                          int64_t offset);
  mlir::Value buildElementwise(mlir::Region &region,
                               nn::ElementwiseOpInterface op, int64_t offset);
  mlir::Value operandOf(mlir::Region &region, mlir::Value value,
                        int64_t offset);
  bool isMask(mlir::Value value);

  mlir::Block *startBody(mlir::Region &region);
  int64_t numProducts(mlir::Region &region);
  int64_t numInputs();

  const RecurrentBuilder backend;
  mlir::Value step;
  /// The values that a step shows and its next states.
  mlir::SmallVector<mlir::Value> results;
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, mlir::Value> inCell, inReset;
};

} // namespace ingot::kernel

#endif // INGOT_PASSES_KERNEL_RECURRENTLOOP_H
