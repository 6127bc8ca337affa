//===- Destinations.h - operands that are written in place ------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_MEMORY_DESTINATIONS_H
#define INGOT_PASSES_MEMORY_DESTINATIONS_H

#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"

namespace ingot {

/// Decides which operands of the module's functions bufferize in place, and
/// stores the decisions in `state`. The rules are those of upstream's one-shot
/// analysis.
///
/// Upstream compares, for each operand, all reads with all writes of all values
/// that may share a buffer. A chain of n ops in one buffer then takes n³ steps.
/// This analysis keeps reads and writes sorted by their position in the
/// program, and compares only those that can conflict. A write can only
/// conflict with a read if it lies between the read and the definition of the
/// value. A chain of n ops then takes n log n steps.
mlir::LogicalResult
analyzeDestinations(mlir::Operation *module,
                    mlir::bufferization::OneShotAnalysisState &state);

} // namespace ingot

#endif // INGOT_PASSES_MEMORY_DESTINATIONS_H
