//===- RecurrentLoop.h - what a loop over time computes ---------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_LOWER_RECURRENTLOOP_H
#define INGOT_PASSES_CPU_LOWER_RECURRENTLOOP_H

#include "dialects/nn/NNDialect.h"
#include "passes/support/Reason.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace ingot::cpu {

/// A loop over the steps of a sequence, taken apart for `cpu.recurrent`.
class RecurrentLoop {
public:
  explicit RecurrentLoop(mlir::scf::ForOp loop) : loop(loop) {}

  /// Fills this in; else says why the loop is no recurrence, or has no kernel.
  Reason match();

  mlir::scf::ForOp loop;
  int64_t hidden = 0, numStates = 0;
  bool isReverse = false, stores = false;
  mlir::Value lengths;
  /// What the input adds at a step.
  mlir::tensor::ExtractSliceOp part;
  /// The last is of what `reset` yields, if that is not empty.
  mlir::SmallVector<nn::MatMulOp> products;
  mlir::SmallVector<int64_t> gates;
  /// A tensor of one dimension, and where in it the numbers of units begin.
  mlir::SmallVector<std::pair<mlir::Value, int64_t>> operands;
  mlir::Region cell, reset;
  /// Of all recurrent weights.
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

  mlir::Value step;
  /// What a step shows, and its next states.
  mlir::SmallVector<mlir::Value> results;
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, mlir::Value> inCell, inReset;
};

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_LOWER_RECURRENTLOOP_H
