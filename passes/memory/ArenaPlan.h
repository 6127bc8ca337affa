//===- ArenaPlan.h - offsets of buffers in one arena ------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_MEMORY_ARENAPLAN_H
#define INGOT_PASSES_MEMORY_ARENAPLAN_H

#include "runtime/include/ingot/abi/artifact.h"

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/ArrayRef.h"

namespace ingot {

/// The multiple of bytes that buffers and constants start at: a cache line.
constexpr int64_t kAlignment = INGOT_ABI_ALIGNMENT;

/// A buffer of `bytes` that is live at positions first…last, both included.
struct ArenaBuffer {
  int64_t bytes = 0;
  int64_t first = 0;
  int64_t last = 0;
  /// Assigned by assignOffsets; a multiple of kAlignment.
  int64_t offset = 0;
};

/// Gives every buffer an offset so that no two live ones overlap; returns the
/// size of the arena. Greedy best fit in several orders (by start, by size, by
/// lifetime), the smallest result wins (Pisarchyk, Lee: Efficient Memory
/// Management for Deep Neural Net Inference, 2020). Where very many buffers
/// live at one time only the first is tried, which takes n log n.
int64_t assignOffsets(llvm::MutableArrayRef<ArenaBuffer> buffers);

/// The maximum over time of live bytes: no plan can be smaller.
int64_t lowerBound(llvm::ArrayRef<ArenaBuffer> buffers);

/// Fails if two buffers that live at the same time overlap.
mlir::LogicalResult verifyOffsets(llvm::ArrayRef<ArenaBuffer> buffers);

} // namespace ingot

#endif // INGOT_PASSES_MEMORY_ARENAPLAN_H
