//===- RowsEmitter.h - code of kernels on rows ------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CUDA_ROWS_ROWSEMITTER_H
#define INGOT_PASSES_CUDA_ROWS_ROWSEMITTER_H

#include "passes/cuda/products/StoreRows.h"
#include "passes/cuda/rows/Rows.h"
#include "passes/support/ScalarBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace ingot::cuda {

/// Computes a value from an element of a column. Rows that are no columns have
/// column 0 alone.
using ElementFn = llvm::function_ref<Value(Value x, size_t column)>;

enum class Fold { sum, product, maximum, minimum };

/// Writes the kernel of an op on rows. Each thread of a row has every n-th
/// vector of the row, in registers or read again in each step.
class RowsEmitter {
public:
  RowsEmitter(mlir::OpBuilder &b, const Rows &rows)
      : code(b, rows.op->getLoc()), s{b, rows.op->getLoc()}, b(b),
        loc(rows.op->getLoc()), rows(rows), schedule(rows.schedule()),
        vectors(rows.vectors(schedule.getVector())) {}

  void emit();

private:
  void emitSoftmax(bool isLog);
  Value factorOf(Value variance, const llvm::APFloat &epsilon);
  void emitNorm(const llvm::APFloat &epsilon, bool isRms);
  void emitReduction(ReduceKind kind);
  void emitPool(PoolOp op);
  void emitMoments();
  void emitNormalize(NormalizeOp op);

  Value toFloat(Value count) {
    return mlir::arith::UIToFPOp::create(b, loc, b.getF32Type(), count);
  }
  /// Returns the number of elements that one result of a row reduces.
  Value length() {
    if (vectors.isOpen())
      return toFloat(vectors.value());
    return s.f(
        double(vectors.known() * (rows.areColumns ? 1 : schedule.getVector())));
  }
  /// Returns the mean of elements that have this sum.
  Value meanOf(Value sum) { return s.div(sum, length()); }

  bool isHeld() const { return schedule.getHeld() != 0; }
  bool mayBeOutside(int64_t i) const {
    return (i + 1) * schedule.getThreads() > vectors.known();
  }
  /// Returns the column of an element of a vector.
  size_t columnOf(size_t i) const { return rows.areColumns ? i : 0; }
  size_t numColumns() const {
    return rows.areColumns ? size_t(schedule.getVector()) : 1;
  }
  /// Returns the vectors of the row, or 0 if there is no such row.
  Value end() {
    Value count = code.valueOf(vectors);
    return isRow ? code.select(isRow, count, code.number(0)) : count;
  }
  Value heldNumber(int64_t i) {
    return code.add(member, i * schedule.getThreads());
  }
  Value isHeldInside(int64_t i) {
    return mayBeOutside(i) ? code.isWithin(heldNumber(i), vectors) : Value();
  }
  llvm::SmallVector<Value> load(Value vector);
  void findWindow(Fold kind);
  llvm::SmallVector<Value> tapOf(Value number, Value &isInside);
  void hold();
  Value neutralOf(Fold kind);
  Value fold(Fold kind, Value x, Value y);
  Value foldAll(Fold kind, llvm::SmallVector<Value> values);
  llvm::SmallVector<Value> reduce(Fold kind, ElementFn element);
  llvm::SmallVector<Value> reduceHeld(Fold kind, ElementFn element);
  llvm::SmallVector<Value> reduceInLoop(Fold kind, ElementFn element);
  void update(ElementFn element);
  void forEachVector(llvm::function_ref<void(Value vector)> body);
  void storeVector(Value vector, llvm::ArrayRef<Value> elements,
                   ElementFn element);
  void store(ElementFn element);
  void storeResults(llvm::ArrayRef<Value> indices,
                    llvm::ArrayRef<Value> results);
  Value countInside();

  /// Writes arithmetic on indices, and on elements.
  Code code;
  support::Scalars s;
  mlir::OpBuilder &b;
  mlir::Location loc;
  const Rows &rows;
  RowScheduleAttr schedule;
  /// Vectors of a row.
  const Number vectors;
  /// Results that the threads of a row have exchanged so far.
  size_t numResults = 0;
  /// The first pixel of the window in each spatial dimension of src, and what
  /// elements in the padding count as.
  llvm::SmallVector<Value> starts;
  Value padding;
  Value thread, member, row;
  /// True if the row exists; null if all rows do.
  Value isRow;
  Value src;
  std::optional<EpilogueArrays> arrays;
  /// The elements of each vector that the thread holds.
  llvm::SmallVector<llvm::SmallVector<Value>> held;
};

} // namespace ingot::cuda

#endif // INGOT_PASSES_CUDA_ROWS_ROWSEMITTER_H
