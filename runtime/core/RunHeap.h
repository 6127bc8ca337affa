//===- RunHeap.h - memory of dynamic tensors --------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_RUNTIME_CORE_RUNHEAP_H
#define INGOT_RUNTIME_CORE_RUNHEAP_H

#include "ingot/ingot.h"

#include <atomic>

namespace ingot::rt {

/// Memory that a run allocates in pieces. Each piece gets the lowest address
/// with enough room, so a run often reuses memory that is still in the cache.
/// The total is little more than the size of a planned arena. If a run needed
/// several regions, the next run gets one region of their total size. Runs of
/// equal shapes therefore allocate nothing. Regions that stay half empty for
/// several runs are returned to the allocator.
class RunHeap {
public:
  explicit RunHeap(const ingot_allocator &allocator) : allocator(allocator) {}
  RunHeap(const RunHeap &) = delete;
  RunHeap &operator=(const RunHeap &) = delete;
  ~RunHeap() { releaseAll(); }

  /// Allocates a piece; callable from any thread. Returns null if memory is
  /// exhausted. `alignment` is a power of two.
  void *allocate(uint64_t bytes, uint64_t alignment);
  void release(void *pointer);

  /// Ends a run. Frees pieces that the run has not freed.
  void endRun();
  void releaseAll();

  /// Returns the bytes of a piece with its header.
  static uint64_t pieceBytes(uint64_t bytes);
  /// Returns the bytes to request from the allocator if pieces take `used`
  /// bytes.
  static uint64_t regionBytes(uint64_t used);

private:
  struct Block;
  struct Region;
  /// Number of recent runs that determine the size of the next region.
  static constexpr uint32_t kRuns = 8;

  void *allocateIn(Region &region, uint64_t bytes, uint64_t alignment);
  Region *addRegion(uint64_t bytes);
  void releaseRegions();
  uint64_t totalBytes() const;

  ingot_allocator allocator;
  std::atomic<bool> lock{false};
  Region *regions = nullptr;
  /// Bytes that recent runs needed, the index of the next entry, and the number
  /// of entries.
  uint64_t needed[kRuns] = {};
  uint32_t next = 0, numRuns = 0;
  /// Least size and alignment of the next region. The region has the largest
  /// alignment of all pieces, so that pieces have equal offsets in each region.
  uint64_t leastBytes = 0, regionAlignment = INGOT_ABI_ALIGNMENT;
  /// Upper bound of the bytes lost to alignment in this run.
  uint64_t slack = 0;
};

} // namespace ingot::rt

#endif // INGOT_RUNTIME_CORE_RUNHEAP_H
