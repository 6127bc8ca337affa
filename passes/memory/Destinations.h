//===- Destinations.h - which operands are written in place -----*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_MEMORY_DESTINATIONS_H
#define INGOT_PASSES_MEMORY_DESTINATIONS_H

#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"

namespace ingot {

/// Decides which operands of the module's functions bufferize in place, by the
/// rules of upstream's one-shot analysis, and leaves that in `state`.
///
/// Upstream compares all reads with all writes of everything that may share a
/// buffer, at each operand: a chain of n ops in one buffer takes n³ steps. Here
/// reads and writes are kept sorted by where they are in the program, and only
/// those are compared that can meet: a write can only disturb a read if it lies
/// between the read and what defines the value. A chain of n ops takes n log n.
mlir::LogicalResult
analyzeDestinations(mlir::Operation *module,
                    mlir::bufferization::OneShotAnalysisState &state);

} // namespace ingot

#endif // INGOT_PASSES_MEMORY_DESTINATIONS_H
