//===- Producers.h - fusion into producers ----------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_PRODUCERS_H
#define INGOT_PASSES_SUPPORT_PRODUCERS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

namespace ingot::support {

/// Order of ops in their blocks, kept up to date while kernels move. MLIR would
/// renumber a block at each query after a move.
class Order {
public:
  explicit Order(mlir::Operation *root);

  /// Returns true if `a` is before `b` in the same block.
  bool isBefore(mlir::Operation *a, mlir::Operation *b) const {
    return placeOf(a) < placeOf(b);
  }
  /// Replaces `op` by `producer`, which then computes the result of `op`.
  void replaceByProducer(mlir::Operation *producer, mlir::Operation *op);
  void erase(mlir::Operation *op);

private:
  int64_t placeOf(mlir::Operation *op) const;

  llvm::DenseMap<mlir::Operation *, int64_t> places;
};

/// Adds leading dimensions of 1 to `value`, up to `rank`.
mlir::Value expandRank(mlir::OpBuilder &builder, mlir::Value value,
                       int64_t rank);

} // namespace ingot::support

#endif // INGOT_PASSES_SUPPORT_PRODUCERS_H
