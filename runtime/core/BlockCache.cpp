//===- BlockCache.cpp - memory for dynamic tensors ------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/core/BlockCache.h"

#include "runtime/core/Memory.h"

using namespace ingot::rt;

/// Stands right before the memory that it describes.
struct BlockCache::Block {
  void *base; ///< what the allocator returned
  uint64_t bytes;
  uint64_t alignment;
  Block *previous;
  Block *next;
  uint32_t idleRuns;

  void link(Block *&list) {
    previous = nullptr;
    next = list;
    if (list)
      list->previous = this;
    list = this;
  }
  void unlink(Block *&list) {
    (previous ? previous->next : list) = next;
    if (next)
      next->previous = previous;
  }
};

namespace {
struct Locked {
  explicit Locked(pthread_mutex_t &mutex) : mutex(mutex) {
    pthread_mutex_lock(&mutex);
  }
  ~Locked() { pthread_mutex_unlock(&mutex); }
  pthread_mutex_t &mutex;
};
} // namespace

uint64_t BlockCache::roundToClass(uint64_t bytes) {
  constexpr uint64_t least = 256;
  if (bytes <= least)
    return least;
  uint64_t step = uint64_t(1) << (61 - __builtin_clzll(bytes - 1));
  return (bytes + step - 1) & ~(step - 1);
}

BlockCache::Block *BlockCache::takeFree(uint64_t bytes, uint64_t alignment) {
  for (Block *block = unused; block; block = block->next)
    if (block->bytes == bytes && block->alignment >= alignment) {
      block->unlink(unused);
      return block;
    }
  return nullptr;
}

void *BlockCache::allocate(uint64_t bytes, uint64_t alignment) {
  constexpr uint64_t most = uint64_t(1) << 62;
  if (alignment < INGOT_ABI_ALIGNMENT)
    alignment = INGOT_ABI_ALIGNMENT;
  if (bytes > most || alignment > most || (alignment & (alignment - 1)))
    return nullptr;
  uint64_t size = roundToClass(bytes);
  // Room for the header that keeps the memory behind it aligned.
  uint64_t front = (sizeof(Block) + alignment - 1) & ~(alignment - 1);
  Locked guard(lock);
  Block *block = takeFree(size, alignment);
  if (!block) {
    void *base = allocator.allocate(allocator.user, front + size, alignment);
    if (!base)
      return nullptr;
    char *memory = static_cast<char *>(base) + front;
    block = reinterpret_cast<Block *>(memory) - 1;
    block->base = base;
    block->bytes = size;
    block->alignment = alignment;
  }
  block->idleRuns = 0;
  block->link(used);
  return block + 1;
}

void BlockCache::release(void *pointer) {
  if (!pointer)
    return;
  Locked guard(lock);
  Block *block = static_cast<Block *>(pointer) - 1;
  block->unlink(used);
  block->link(unused);
}

void BlockCache::releaseFree(uint32_t idleRuns) {
  for (Block *block = unused, *next; block; block = next) {
    next = block->next;
    if (block->idleRuns < idleRuns)
      continue;
    block->unlink(unused);
    allocator.release(allocator.user, block->base);
  }
}

void BlockCache::endRun() {
  Locked guard(lock);
  while (Block *block = used) {
    block->unlink(used);
    block->link(unused);
  }
  // Taking a block sets it to zero, so what was used now becomes one.
  for (Block *block = unused; block; block = block->next)
    ++block->idleRuns;
  releaseFree(maxIdleRuns + 1);
}

void BlockCache::releaseAll() {
  Locked guard(lock);
  while (Block *block = used) {
    block->unlink(used);
    block->link(unused);
  }
  releaseFree(0);
}
