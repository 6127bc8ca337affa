//===- Producers.h - kernels that take in what follows them -----*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_FUSE_PRODUCERS_H
#define INGOT_PASSES_FUSE_PRODUCERS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"

namespace ingot::fuse {

/// Calls `fuse` on each nn op of one result below `root`, in order, so that a
/// chain of consumers is taken up one by one. Returns how often it says true.
int64_t fuseInOrder(mlir::Operation *root,
                    llvm::function_ref<bool(mlir::Operation *)> fuse);

/// The operands of `op` that kernels with `Interface` compute. The one computed
/// last comes first: if it takes in `op`, what it computes need not be kept
/// while the others run.
llvm::SmallVector<mlir::OpOperand *>
sortByProducer(llvm::SmallVector<mlir::OpOperand *> operands);
template <typename Interface>
llvm::SmallVector<mlir::OpOperand *> operandsFrom(mlir::Operation *op) {
  llvm::SmallVector<mlir::OpOperand *> operands;
  for (mlir::OpOperand &operand : op->getOpOperands())
    if (operand.get().getDefiningOp<Interface>())
      operands.push_back(&operand);
  return sortByProducer(std::move(operands));
}

/// Lets `producer`, which computes what `op` does by now, take its place.
void replaceByProducer(mlir::Operation *producer, mlir::Operation *op);

/// `value` with 1s in front, up to `rank` dimensions.
mlir::Value expandRank(mlir::OpBuilder &builder, mlir::Value value,
                       int64_t rank);

} // namespace ingot::fuse

#endif // INGOT_PASSES_FUSE_PRODUCERS_H
