//===- ReadWriteConflict.h - does a write disturb a read --------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_MEMORY_READWRITECONFLICT_H
#define INGOT_PASSES_MEMORY_READWRITECONFLICT_H

#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Interfaces/SubsetOpInterface.h"

namespace ingot {

/// An op that writes one tensor into a part of another; null if `op` is none,
/// as one that writes a vector.
mlir::SubsetInsertionOpInterface getInsertion(mlir::Operation *op);

/// Whether `read` would see what `write` wrote instead of the value that it
/// stands for, if both were of one buffer.
bool isDisturbedBy(mlir::OpOperand &read, mlir::OpOperand &write,
                   const mlir::DominanceInfo &dominance,
                   mlir::bufferization::OneShotAnalysisState &state);

/// Whether `write` writes to something made outside of the parallel loop that
/// it is in: iterations need a buffer each.
bool leavesParallelRegion(mlir::OpOperand &write,
                          const mlir::bufferization::AnalysisState &state);

} // namespace ingot

#endif // INGOT_PASSES_MEMORY_READWRITECONFLICT_H
