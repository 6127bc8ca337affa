//===- StepEmitter.h - code of a step of a recurrence -----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CUDA_RECURRENT_STEPEMITTER_H
#define INGOT_PASSES_CUDA_RECURRENT_STEPEMITTER_H

#include "passes/cuda/kernels/Team.h"
#include "passes/cuda/recurrent/Recurrence.h"

namespace ingot::cuda {

/// The memrefs of a step in one direction. A memref that the step does not use
/// is null.
struct StepBuffers {
  /// The contribution of the input, the first state before the step, the values
  /// of `reset`, and the masks.
  Value src, before, late, mask;
  llvm::SmallVector<Value> weights, columns;
  /// The other states, which a step that computes the cell updates.
  llvm::SmallVector<Value> states;
  /// The output, and the first state after the step. The kernel of `reset` has
  /// its values in the place of the state.
  Value all, after;

  /// Adds the memrefs that the kernel only reads, and those that it writes.
  void collect(bool isReset, llvm::SmallVectorImpl<Value *> &reads,
               llvm::SmallVectorImpl<Value *> &writes);
};

/// Writes the kernel of a step. Lanes of a warp multiply the rows of weights of
/// one unit by the states of some sequences. They exchange their sums, and each
/// computes the cell of one sequence.
class StepEmitter {
public:
  /// `isReset` is true for the kernel that computes the values of `reset`.
  StepEmitter(mlir::OpBuilder &b, const Recurrence &facts, bool isReset);

  void emit(mlir::ModuleOp kernels, llvm::ArrayRef<StepBuffers> directions);

private:
  using FieldFn = llvm::function_ref<Value(const StepBuffers &)>;

  mlir::Region &body();
  /// Returns the number of weights that the body multiplies.
  size_t numWeights();
  void place();
  Value addressOf(FieldFn field, llvm::ArrayRef<Value> indices);
  Value load(FieldFn field, llvm::ArrayRef<Value> indices);
  void store(Value value, FieldFn field, llvm::ArrayRef<Value> indices);
  llvm::SmallVector<Value> multiply();
  void addRow(size_t i, int64_t firstGate, llvm::SmallVectorImpl<Value> &sums);
  void addVector(llvm::ArrayRef<Value> rows, llvm::ArrayRef<Value> sequences,
                 Value at, int64_t count, llvm::SmallVectorImpl<Value> &sums);
  void addIf(Value condition, llvm::SmallVectorImpl<Value> &sums,
             llvm::function_ref<void(llvm::SmallVectorImpl<Value> &)> add);
  void emitCell(llvm::ArrayRef<Value> sums);

  Code code;
  mlir::OpBuilder &b;
  mlir::Location loc;
  Recurrence facts;
  RecurrentOp op;
  RecurrentScheduleAttr schedule;
  bool isReset;
  llvm::ArrayRef<StepBuffers> directions;
  Value member, direction, unit;
  /// True if the unit exists; null if all do.
  Value isUnit;
  /// The first sequence of the block.
  Value first;
  /// The number of sequences.
  Number batch = 1;
};

} // namespace ingot::cuda

#endif // INGOT_PASSES_CUDA_RECURRENT_STEPEMITTER_H
