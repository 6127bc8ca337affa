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

/// Alignment of buffers and constants in bytes: a cache line.
constexpr int64_t kAlignment = INGOT_ABI_ALIGNMENT;

/// A buffer of `bytes` bytes that is live from position `first` to position
/// `last`, both included.
struct ArenaBuffer {
  int64_t bytes = 0;
  int64_t first = 0;
  int64_t last = 0;
  /// Offset in the arena, a multiple of kAlignment. `assignOffsets` sets it.
  int64_t offset = 0;
};

/// Assigns an offset to each buffer so that no two live buffers overlap.
/// Returns the size of the arena. Runs a greedy best fit in several orders (by
/// start, by size, by lifetime) and keeps the smallest result. See Pisarchyk,
/// Lee: Efficient Memory Management for Deep Neural Net Inference, 2020. If
/// very many buffers are live at one time, only the order by start is tried,
/// which takes n log n steps.
int64_t assignOffsets(llvm::MutableArrayRef<ArenaBuffer> buffers);

/// Returns the maximum of live bytes over time, which is a lower bound for
/// every plan.
int64_t lowerBound(llvm::ArrayRef<ArenaBuffer> buffers);

/// Fails if two buffers overlap while both are live.
mlir::LogicalResult verifyOffsets(llvm::ArrayRef<ArenaBuffer> buffers);

} // namespace ingot

#endif // INGOT_PASSES_MEMORY_ARENAPLAN_H
