//===- Producers.h - kernels that take in what follows them -----*- C++ -*-===//
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

/// Ops in the order in which they stand, while kernels move. MLIR numbers a
/// block again whenever one is asked about after a move.
class Order {
public:
  explicit Order(mlir::Operation *root);

  /// Of one block.
  bool isBefore(mlir::Operation *a, mlir::Operation *b) const {
    return placeOf(a) < placeOf(b);
  }
  /// Lets `producer`, which computes what `op` does by now, take its place.
  void replaceByProducer(mlir::Operation *producer, mlir::Operation *op);
  void erase(mlir::Operation *op);

private:
  int64_t placeOf(mlir::Operation *op) const;

  llvm::DenseMap<mlir::Operation *, int64_t> places;
};

/// `value` with 1s in front, up to `rank` dimensions.
mlir::Value expandRank(mlir::OpBuilder &builder, mlir::Value value,
                       int64_t rank);

} // namespace ingot::support

#endif // INGOT_PASSES_SUPPORT_PRODUCERS_H
