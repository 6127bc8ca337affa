//===- RunHeap.h - memory of tensors of open size ---------------*- C++ -*-===//
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

/// The memory that a run asks for piece by piece. Pieces lie in a region, each
/// at the lowest place that has room, so that what is written next is where
/// something has just been given back, in the cache, and all of it takes little
/// more than an arena that was planned. A run that needs more takes further
/// regions; they are one from the next run on, so that runs of equal shapes
/// allocate nothing. Regions that several runs left half empty go back to the
/// allocator.
class RunHeap {
public:
  explicit RunHeap(const ingot_allocator &allocator) : allocator(allocator) {}
  RunHeap(const RunHeap &) = delete;
  RunHeap &operator=(const RunHeap &) = delete;
  ~RunHeap() { releaseAll(); }

  /// Any thread. Null when memory is out. `alignment` is a power of two.
  void *allocate(uint64_t bytes, uint64_t alignment);
  void release(void *pointer);

  /// Between runs: takes back what a run left.
  void endRun();
  void releaseAll();

  /// Of a region's bytes, what a piece takes, with what tells of it.
  static uint64_t pieceBytes(uint64_t bytes);
  /// What the allocator is asked for where pieces take `used` bytes.
  static uint64_t regionBytes(uint64_t used);

private:
  struct Block;
  struct Region;
  /// So many runs decide how much is needed.
  static constexpr uint32_t kRuns = 8;

  void *allocateIn(Region &region, uint64_t bytes, uint64_t alignment);
  Region *addRegion(uint64_t bytes);
  void releaseRegions();
  uint64_t totalBytes() const;

  ingot_allocator allocator;
  std::atomic<bool> lock{false};
  Region *regions = nullptr;
  /// What the last runs needed, the next one's place, and how many there were.
  uint64_t needed[kRuns] = {};
  uint32_t next = 0, numRuns = 0;
  /// What the next region has at least, and how it is aligned: with the
  /// strictest of its pieces, so that these lie in each region alike.
  uint64_t leastBytes = 0, regionAlignment = INGOT_ABI_ALIGNMENT;
  /// What aligning this run's pieces may have cost at most.
  uint64_t slack = 0;
};

} // namespace ingot::rt

#endif // INGOT_RUNTIME_CORE_RUNHEAP_H
