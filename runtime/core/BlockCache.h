//===- BlockCache.h - memory for dynamic tensors --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_RUNTIME_CORE_BLOCKCACHE_H
#define INGOT_RUNTIME_CORE_BLOCKCACHE_H

#include "ingot/ingot.h"

#include <pthread.h>

namespace ingot::rt {

/// Keeps the blocks of earlier runs for later ones. Sizes are rounded up to
/// classes (four a power of two) and a block serves its own class only: runs
/// of equal shapes need equally many blocks of each class at a time, so that
/// all but the first allocate nothing. Blocks that some runs left unused go
/// back to the allocator.
class BlockCache {
public:
  explicit BlockCache(const ingot_allocator &allocator)
      : allocator(allocator) {}
  BlockCache(const BlockCache &) = delete;
  BlockCache &operator=(const BlockCache &) = delete;
  ~BlockCache() { releaseAll(); }

  /// Any thread. Null when memory is out.
  void *allocate(uint64_t bytes, uint64_t alignment);
  void release(void *pointer);

  /// Between runs: takes back what a failed run left, and ages what it did not
  /// use.
  void endRun();
  void releaseAll();

  static uint64_t roundToClass(uint64_t bytes);

private:
  struct Block;
  static constexpr uint32_t maxIdleRuns = 8;

  Block *takeFree(uint64_t bytes, uint64_t alignment);
  void releaseFree(uint32_t idleRuns);

  ingot_allocator allocator;
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  Block *used = nullptr;
  Block *unused = nullptr;
};

} // namespace ingot::rt

#endif // INGOT_RUNTIME_CORE_BLOCKCACHE_H
