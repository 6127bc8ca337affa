//===- ReadWriteConflict.h - conflicts of writes and reads ------*- C++ -*-===//
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

/// Returns `op` as an op that inserts a tensor into another one, or null. Ops
/// that write vectors do not count.
mlir::SubsetInsertionOpInterface getInsertion(mlir::Operation *op);

/// Returns true if `read` would see the result of `write` instead of its own
/// value, if both used one buffer.
bool isDisturbedBy(mlir::OpOperand &read, mlir::OpOperand &write,
                   const mlir::DominanceInfo &dominance,
                   mlir::bufferization::OneShotAnalysisState &state);

/// Returns true if `write` writes to a value from outside of the parallel loop
/// around it. Each iteration then needs its own buffer.
bool leavesParallelRegion(mlir::OpOperand &write,
                          const mlir::bufferization::AnalysisState &state);

} // namespace ingot

#endif // INGOT_PASSES_MEMORY_READWRITECONFLICT_H
