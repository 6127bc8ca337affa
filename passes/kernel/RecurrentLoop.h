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

/// The parts of a recurrence that its backend decides or builds.
struct RecurrentBuilder {
  /// Returns why the backend does not multiply a state by these weights.
  Reason (*whyNot)(nn::MatMulOp product);
  /// Builds the terminator of a cell's body, which yields `values`.
  void (*buildYield)(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::ValueRange values);
};

/// A loop over the steps of a sequence, and the parts of the kernel that the
/// loop becomes.
class RecurrentLoop {
public:
  RecurrentLoop(mlir::scf::ForOp loop, const RecurrentBuilder &backend)
      : loop(loop), backend(backend) {}

  /// Matches the loop and fills the fields. Otherwise returns why the loop is
  /// not a recurrence or has no kernel.
  Reason match();

  /// Builds the slice of the steps that the loop takes: the first steps of a
  /// tensor that has more.
  mlir::Value buildSource(mlir::OpBuilder &b);
  /// Builds `operands` without the elements of other units.
  mlir::SmallVector<mlir::Value> buildOperands(mlir::OpBuilder &b);

  mlir::scf::ForOp loop;
  int64_t hidden = 0, numStates = 0;
  bool isReverse = false, stores = false;
  mlir::Value lengths;
  /// The products of the input with the weights are computed before the loop.
  /// This slice has those of one step.
  mlir::tensor::ExtractSliceOp part;
  /// The products of states. If `reset` is not empty, the last product
  /// multiplies the values that `reset` yields.
  mlir::SmallVector<nn::MatMulOp> products;
  mlir::SmallVector<int64_t> gates;
  /// A tensor of rank 1, and the offset in it where the elements of the units
  /// begin.
  mlir::SmallVector<std::pair<mlir::Value, int64_t>> operands;
  mlir::Region cell, reset;
  /// The size of all recurrent weights.
  int64_t weightBytes = 0;

private:
  Reason matchStates();
  Reason matchSteps();
  Reason matchProducts();
  bool isStep(mlir::Value index);
  bool buildCells();

  /// Builds the scalar for unit 0 of columns [offset, offset + hidden) of
  /// `value`. Returns null if there is none.
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
  /// The results of a step and its next states.
  mlir::SmallVector<mlir::Value> results;
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, mlir::Value> inCell, inReset;
};

} // namespace ingot::kernel

#endif // INGOT_PASSES_KERNEL_RECURRENTLOOP_H
